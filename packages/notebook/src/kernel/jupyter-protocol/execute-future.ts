import type { JsonObject } from '@notebridge/protocol/json';
import type { Output } from '../../model/output.js';
import type { PendingExecution } from '../execution-queue.js';
import type { Execution } from '../kernel.js';
import type { KernelMessage } from './kernel-message.js';
import { toShown } from './shown-by-code.js';

export interface FutureOptions {
  /** Has the kernel interrupted. */
  interrupt: () => Promise<void>;
  /** Given to code that nobody answers: an end of file, in Python. Undefined: it is interrupted. */
  refusal?: string | undefined;
  /** Called when its request was sent, also once more, and when its code has begun. */
  onProgress?: () => void;
  /** `isLast`: the code has ended its kernel as well, by `exit()`. */
  onEnd: (status: Execution['status'], isLast: boolean) => void;
}

interface ClientOptions extends FutureOptions {
  /** Others run code in the kernel too: ours may wait behind theirs, they may interrupt it, and messages may come late. */
  isShared: boolean;
  /** Answers the question with this header. */
  answer: (value: string, header: JsonObject) => void;
  sendAgain: (future: ExecuteFuture) => void;
}

/** ipykernel loses an interrupt that comes before the cell begins, which other kernels may never report. */
const beginTimeoutMs = 500;
/** It has said that the cell begins, and is about to. */
const aboutToBeginMs = 50;
/** One of the two messages that end a cell may be lost: an interrupt hit the kernel itself, or it dropped messages of a flood. */
const lostTimeoutMs = { interrupted: 500, otherwise: 10_000 };

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

/** One cell's code in a kernel, from its request to the reply and the state `idle` after it, and what its threads and tasks show later. */
export class ExecuteFuture {
  readonly execution: PendingExecution;
  /** The id of its request; empty until that is sent. */
  id = '';
  /** It has left the kernel's own queue, where code of others may be before it. */
  hasBegun = false;
  /** Where it has not begun, the kernel is interrupted as soon as it does, and not before: that would hit another's code. */
  isInterrupted = false;
  readonly #options: ClientOptions;
  readonly #ended = new AbortController();
  #status: Execution['status'] | undefined;
  #isAborted = false;
  #isIdle = false;
  #isLast = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(execution: PendingExecution, options: ClientOptions) {
    this.execution = execution;
    this.#options = options;
  }

  /** Aborted at its end. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Rejects where the kernel cannot be reached. */
  async interrupt(): Promise<void> {
    this.isInterrupted = true;
    if (this.hasBegun) return this.#options.interrupt();
    if (!this.#options.isShared) this.#wait(beginTimeoutMs, () => this.#begin());
  }

  sentAs(id: string): void {
    this.id = id;
    this.#options.onProgress?.();
  }

  receive(message: KernelMessage): void {
    const { channel, type, parentId, content } = message;
    if (channel === 'iopub' && type !== 'status') {
      if (parentId === this.id) this.#begin(content.execution_count);
      this.#show(type, content);
      this.keepAlive();
    } else if (channel === 'iopub' && content.execution_state === 'idle') {
      this.#isIdle = true;
      this.#endOrWait();
    } else if (channel === 'shell') this.#receiveReply(content);
    else if (type === 'input_request') void this.#answer(message);
  }

  /** Its code still shows something, so its end is not lost yet. */
  keepAlive(): void {
    if (this.#status !== undefined && !this.#isIdle) this.#endOrWait();
  }

  end(status: Execution['status']): void {
    if (this.ended.aborted) return;
    this.drop();
    this.#options.onEnd(status, this.#isLast);
  }

  fail(error: unknown): void {
    this.drop();
    this.execution.fail(error);
  }

  /** It ended another way. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#ended.abort();
  }

  #begin(count?: unknown): void {
    if (this.ended.aborted) return;
    this.#count(count);
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.#options.onProgress?.();
    if (this.isInterrupted) this.#wait(aboutToBeginMs, () => void this.#options.interrupt().catch(() => {}));
  }

  #receiveReply({ status, ename, execution_count: count, payload }: JsonObject): void {
    if (this.ended.aborted || this.#status !== undefined) return;
    this.#count(count);
    this.#isAborted = status === 'aborted';
    const isByOthers = this.#options.isShared && ename === 'KeyboardInterrupt';
    // ipykernel 7 says "error" of a good cell behind one that was interrupted while it showed its result, and names no error.
    if (status === 'ok' || ename === 'NoneType') this.#status = 'ok';
    else this.#status = this.isInterrupted || isByOthers || status !== 'error' ? 'interrupted' : 'error';
    for (const each of Array.isArray(payload) ? payload : []) this.#receivePayload(each);
    this.#endOrWait();
  }

  /** The last outputs may come after the reply: both it and the state `idle` have to be there. */
  #endOrWait(): void {
    const status = this.#status;
    if (this.ended.aborted) return;
    if (status !== undefined && this.#isIdle) return this.#isDropped ? this.#sendAgain() : this.end(status);
    if (this.#options.isShared) return;
    const isInterrupted = status === undefined ? this.isInterrupted : status === 'interrupted';
    this.#wait(isInterrupted ? lostTimeoutMs.interrupted : lostTimeoutMs.otherwise, () => {
      if (status !== undefined && !isInterrupted) this.execution.show(lost);
      this.end(status ?? (isInterrupted ? 'interrupted' : 'error'));
    });
  }

  /** An error in another's code emptied the kernel's queue before this one ran. */
  get #isDropped(): boolean {
    return this.#isAborted && !this.hasBegun && !this.isInterrupted;
  }

  #sendAgain(): void {
    [this.#status, this.#isIdle] = [undefined, false];
    this.#options.sendAgain(this);
  }

  async #answer({ header, content: { prompt, password } }: KernelMessage): Promise<void> {
    if (this.ended.aborted) return;
    const question = { prompt: typeof prompt === 'string' ? prompt : '', password: password === true };
    const value = await this.execution.ask(question, this.ended);
    if (this.ended.aborted || this.isInterrupted) return;
    const answer = value ?? this.#options.refusal;
    if (answer === undefined) await this.interrupt().catch(() => {});
    else this.#options.answer(answer, header);
  }

  #show(type: string, content: JsonObject): void {
    const { execution } = this;
    const shown = toShown(type, content);
    if (shown?.kind === 'clear') execution.take({ type: 'clear', count: execution.count, wait: shown.wait });
    if (shown?.kind !== 'output') return;
    const { kind: _, ...rest } = shown;
    execution.take({ type: 'output', count: execution.count, characters: 0, ...rest });
  }

  /** Shows the text that `?x` asks for, which Jupyter calls the pager, and says that `exit()` was called. */
  #receivePayload(payload: unknown): void {
    const { source, data, keepkernel } = (payload ?? {}) as JsonObject;
    if (source === 'page') this.#show('display_data', { data, metadata: {} });
    // A kernel that is shared is started again by its server.
    if (source !== 'ask_exit' || keepkernel === true || this.#options.isShared) return;
    this.#isLast = true;
    this.execution.show(exited);
  }

  #count(count: unknown): void {
    if (Number.isSafeInteger(count) && Number(count) > 0) this.execution.count = Number(count);
  }

  #wait(timeoutMs: number, over: () => void): void {
    clearTimeout(this.#timer);
    if (!this.ended.aborted) this.#timer = setTimeout(over, timeoutMs);
  }
}
