import type { InputQuestion } from './kernel/kernel.js';
import { NotebookError } from './model/errors.js';
import type { Run } from './run-queue.js';

/** A question of the code, as windows show it. */
export interface OpenQuestion extends InputQuestion {
  readonly id: number;
  /** The run that waits for the answer. */
  readonly run: Run;
}

export type InputEvent =
  | { readonly type: 'input'; readonly question: OpenQuestion }
  /** It was answered or refused, or its run has ended. */
  | { readonly type: 'inputEnded'; readonly questionId: number };

interface Waiting {
  readonly question: OpenQuestion;
  end: (answer: string | undefined) => void;
}

/** What the code of a notebook asks, as `input()` does, until a person answers it. */
export class InputQuestions {
  /** Whether somebody sees questions: an open window. The code of an agent is refused otherwise. Default: nobody. */
  isAttended: () => boolean = () => false;
  readonly #onEvent: (event: InputEvent) => void;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(onEvent: (event: InputEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** Those without an answer, oldest first. */
  get open(): readonly OpenQuestion[] {
    return [...this.#waiting.values()].map(({ question }) => question);
  }

  /** A person's run is asked of the person, who may open a window again; an agent's only where somebody is there. */
  canAsk(run: Run): boolean {
    return run.by.kind === 'person' || this.isAttended();
  }

  /** The answer; undefined: it was refused. */
  ask({ prompt, password }: InputQuestion, run: Run, signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted || !this.canAsk(run)) return Promise.resolve(undefined);
    const question: OpenQuestion = { id: ++this.#lastId, run, prompt, password };
    return new Promise((resolve) => {
      const end = (answer: string | undefined): void => {
        signal.removeEventListener('abort', refuse);
        this.#waiting.delete(question.id);
        resolve(answer);
        this.#onEvent({ type: 'inputEnded', questionId: question.id });
      };
      const refuse = () => end(undefined);
      signal.addEventListener('abort', refuse, { once: true });
      this.#waiting.set(question.id, { question, end });
      this.#onEvent({ type: 'input', question });
    });
  }

  /** `null` refuses it. Throws `no_question` if it is answered already, or its run has ended. */
  answer(questionId: number, text: string | null): void {
    const waiting = this.#waiting.get(questionId);
    if (!waiting)
      throw new NotebookError('no_question', `Question ${questionId} is not open any more: it was answered, or its run has ended.`);
    waiting.end(text ?? undefined);
  }

  /** Nobody is there any more: what agents' code asks is refused. */
  refuseUnattended(): void {
    for (const { question, end } of [...this.#waiting.values()]) if (question.run.by.kind === 'agent') end(undefined);
  }

  close(): void {
    for (const { end } of [...this.#waiting.values()]) end(undefined);
  }
}
