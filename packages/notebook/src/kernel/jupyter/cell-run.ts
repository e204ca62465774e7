import type { Output } from '../../model/output.js';
import type { PendingExecution } from '../execution-queue.js';
import type { Execution } from '../kernel.js';
import type { CodeAsker } from '../kernel-tools.js';
import { toShown } from './shown-by-code.js';

export interface CellRunOptions {
  execution: PendingExecution;
  /** Has the helper interrupt the kernel. */
  interrupt: () => void;
  /** Answers the question with this header. */
  answer: (value: string, header: string) => void;
  /** What the code sees instead of an answer: an end of file, in Python. Undefined: it is interrupted. */
  refusal: string | undefined;
  /** `isLast`: the code has ended its kernel as well, by `exit()`. */
  onEnd: (status: Execution['status'], isLast: boolean) => void;
}

type Content = { readonly [key: string]: unknown };

/** ipykernel loses an interrupt that comes before the cell begins, which other kernels may never report. */
const beginTimeoutMs = 500;
/** It has said that the cell begins, and is about to. */
const aboutToBeginMs = 50;
/** One of the two messages that end a cell may be lost: an interrupt hit the kernel itself, or it dropped messages of a flood. */
const replyTimeoutMs = { interrupted: 500, otherwise: 10_000 };
const idleTimeoutMs = { interrupted: 300, otherwise: 10_000 };

const lost: Output = {
  output_type: 'stream',
  name: 'stderr',
  text: '[The end of the output is missing: the kernel dropped what came faster than it could be read.]\n',
};

const exited: Output = {
  output_type: 'stream',
  name: 'stderr',
  text: '[exit() has ended the kernel, and its variables are gone. Restart the kernel (restart_kernel) to go on.]\n',
};

/** One cell in a kernel of Jupyter, from the request to the reply and the state `idle` after it, and what its threads and tasks show later. */
export class CellRun {
  readonly #options: CellRunOptions;
  readonly #asking = new AbortController();
  #status: Execution['status'] | undefined;
  #hasBegun = false;
  #isIdle = false;
  #isEnded = false;
  #isInterrupted = false;
  #isLast = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: CellRunOptions) {
    this.#options = options;
  }

  interrupt(): void {
    this.#isInterrupted = true;
    if (this.#hasBegun) return this.#options.interrupt();
    this.#wait(beginTimeoutMs, () => this.#begin());
  }

  takeOutput(messageType: string, content: Content): void {
    if (this.#isEnded) return this.#show(messageType, content);
    if (messageType === 'execute_input') this.#begin(content.execution_count);
    else if (messageType === 'status') {
      if (content.execution_state === 'idle') this.#becomeIdle();
    } else this.#show(messageType, content);
    // It still talks, so nothing is lost yet.
    if (this.#status !== undefined && !this.#isIdle) this.#waitForIdle();
  }

  takeReply(content: Content): void {
    if (this.#isEnded || this.#status !== undefined) return;
    this.#count(content.execution_count);
    // ipykernel 7 says "error" of a good cell behind one that was interrupted while it showed its result, and names no error.
    if (content.status === 'ok' || content.ename === 'NoneType') this.#status = 'ok';
    else this.#status = this.#isInterrupted || content.status !== 'error' ? 'interrupted' : 'error';
    for (const payload of Array.isArray(content.payload) ? content.payload : []) this.#takePayload(payload);
    if (this.#isIdle) this.#end(this.#status);
    else this.#waitForIdle();
  }

  /** Whom servers may ask in its calls. */
  get asker(): CodeAsker | undefined {
    return this.#options.execution.asker;
  }

  async takeQuestion({ prompt, password }: Content, header: string): Promise<void> {
    const question = { prompt: typeof prompt === 'string' ? prompt : '', password: password === true };
    const value = await this.#options.execution.ask(question, this.#asking.signal);
    if (this.#isEnded || this.#isInterrupted) return;
    const answer = value ?? this.#options.refusal;
    if (answer === undefined) this.interrupt();
    else this.#options.answer(answer, header);
  }

  /** It ended another way. */
  drop(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.#asking.abort();
  }

  #begin(count?: unknown): void {
    this.#count(count);
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    if (this.#isInterrupted) this.#wait(aboutToBeginMs, () => this.#options.interrupt());
  }

  #becomeIdle(): void {
    this.#isIdle = true;
    if (this.#status !== undefined) return this.#end(this.#status);
    const timeoutMs = this.#isInterrupted ? replyTimeoutMs.interrupted : replyTimeoutMs.otherwise;
    this.#wait(timeoutMs, () => this.#end(this.#isInterrupted ? 'interrupted' : 'error'));
  }

  #waitForIdle(): void {
    const isInterrupted = this.#status === 'interrupted';
    this.#wait(isInterrupted ? idleTimeoutMs.interrupted : idleTimeoutMs.otherwise, () => {
      if (!isInterrupted) this.#options.execution.show(lost);
      this.#end(this.#status ?? 'ok');
    });
  }

  #show(messageType: string, content: Content): void {
    const { execution } = this.#options;
    const shown = toShown(messageType, content);
    if (shown?.kind === 'clear') execution.take({ type: 'clear', count: execution.count, wait: shown.wait });
    if (shown?.kind !== 'output') return;
    const { kind: _, ...rest } = shown;
    execution.take({ type: 'output', count: execution.count, characters: 0, ...rest });
  }

  /** What `?x` shows, which Jupyter calls the pager; and that `exit()` was called. */
  #takePayload(payload: unknown): void {
    const { source, data, keepkernel } = (payload ?? {}) as Content;
    if (source === 'page') this.#show('display_data', { data, metadata: {} });
    if (source !== 'ask_exit' || keepkernel === true) return;
    this.#isLast = true;
    this.#options.execution.show(exited);
  }

  #count(count: unknown): void {
    if (Number.isSafeInteger(count) && Number(count) > 0) this.#options.execution.count = Number(count);
  }

  #end(status: Execution['status']): void {
    this.drop();
    this.#options.onEnd(status, this.#isLast);
  }

  #wait(timeoutMs: number, over: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(over, timeoutMs);
  }
}
