import type { JsonObject } from '@notebridge/protocol/json';
import type { InputQuestion } from '../kernel/kernel.js';
import type { CodeAsker, ServerQuestion, ServerQuestionOptions } from '../kernel/kernel-tools.js';
import { NotebookError } from '../model/errors.js';
import type { Output } from '../model/output.js';
import { answerFault, type Elicitation, type ElicitationAnswer, toElicitation } from './elicitation.js';
import type { Run } from './run-queue.js';

interface Asked {
  readonly id: number;
  /** The run that waits for the answer. */
  readonly run: Run;
}

/** A question of the code itself, or of a server that it calls, as windows show it. */
export type OpenQuestion = Asked & (InputQuestion | { readonly elicitation: Elicitation });

export type InputEvent =
  | { readonly type: 'input'; readonly question: OpenQuestion }
  /** It was answered or refused, or its run has ended. */
  | { readonly type: 'inputEnded'; readonly questionId: number };

type Answer = string | ElicitationAnswer;

interface Waiting {
  readonly question: OpenQuestion;
  /** Undefined refuses it. */
  end: (answer: Answer | undefined) => void;
}

/** What a window can be asked. */
const canOfWindow: JsonObject = { elicitation: { form: {}, url: {} } };

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
  async ask({ prompt, password }: InputQuestion, run: Run, signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted || !this.canAsk(run)) return undefined;
    const answer = await this.#put({ id: ++this.#lastId, run, prompt, password }, signal);
    return typeof answer === 'string' ? answer : undefined;
  }

  /** How servers ask the person whose run it is: by forms and URLs in an open window. */
  askerFor(run: Run): CodeAsker {
    const { isAttended } = this;
    return {
      get can() {
        return isAttended() ? canOfWindow : {};
      },
      ask: (question, options) => this.#elicit(question, run, options),
    };
  }

  /** `null` refuses it. Throws `no_question` if it is answered already, or its run has ended. */
  answer(questionId: number, text: string | null): void {
    const { question, end } = this.#find(questionId);
    if ('elicitation' in question) throw gone(questionId);
    end(text ?? undefined);
  }

  /** Throws as `answer`, and `bad_arguments` for what the form does not ask for; it stays open then. */
  answerElicitation(questionId: number, answer: ElicitationAnswer): void {
    const { question, end } = this.#find(questionId);
    if (!('elicitation' in question)) throw gone(questionId);
    const fault = answerFault(question.elicitation, answer);
    if (fault !== undefined) throw new NotebookError('bad_arguments', `The answer was not sent: ${fault}.`);
    end(answer);
  }

  /** Nobody is there any more: what agents' code and servers ask is refused. */
  refuseUnattended(): void {
    for (const { question, end } of [...this.#waiting.values()])
      if (question.run.by.kind === 'agent' || 'elicitation' in question) end(undefined);
  }

  close(): void {
    for (const { end } of [...this.#waiting.values()]) end(undefined);
  }

  /** Like a dialog that was closed: `cancel`, if nobody answers in time, or it cannot be shown. */
  async #elicit(asked: ServerQuestion, run: Run, { server, signal, timeoutMs }: ServerQuestionOptions): Promise<JsonObject> {
    const elicitation = toElicitation(asked, server);
    if (elicitation === undefined || signal.aborted || !this.isAttended()) return { action: 'cancel' };
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), timeoutMs);
    const answer = await this.#put({ id: ++this.#lastId, run, elicitation }, AbortSignal.any([signal, over.signal]));
    clearTimeout(timer);
    return typeof answer === 'object' ? { ...answer } : { action: 'cancel' };
  }

  #put(question: OpenQuestion, signal: AbortSignal): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      const end = (answer: Answer | undefined): void => {
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

  #find(questionId: number): Waiting {
    const waiting = this.#waiting.get(questionId);
    if (!waiting) throw gone(questionId);
    return waiting;
  }
}

function gone(questionId: number): NotebookError {
  return new NotebookError('no_question', `Question ${questionId} is not open any more: it was answered, or its run has ended.`);
}

/** What stands in the cell of a question of the code that got no answer. */
export function refusalOf({ prompt }: InputQuestion, wasAsked: boolean): Output {
  const what = `[The code asked${prompt.trim() === '' ? '' : ` ${JSON.stringify(prompt.slice(0, 200))}`}, and `;
  const why = wasAsked
    ? 'no answer was given.]\n'
    : 'nobody has the notebook open in a window who could answer. Set the value in the code instead of input(), or ask the person to open the notebook.]\n';
  return { output_type: 'stream', name: 'stderr', text: what + why };
}
