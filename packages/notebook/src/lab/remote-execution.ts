import type { JsonObject } from '@notebridge/kit/json';
import type { ExecuteOptions, Execution } from '../kernel/kernel.js';
import type { Output } from '../model/output.js';
import type { KernelMessage } from './kernel-message.js';

/** One cell's run in a kernel that others use too. It ends once, and output may come later. */
export class RemoteExecution {
  readonly source: string;
  readonly ended: Promise<Execution>;
  /** Its code runs: it has left the kernel's own queue, where cells of others may be before it. */
  hasBegun = false;
  /** Asked to stop before it began: interrupted as soon as it begins, and not before, since then it would hit another's cell. */
  isAbandoned = false;
  isInterrupted = false;
  readonly #options: ExecuteOptions;
  #settle!: { resolve: (execution: Execution) => void; reject: (error: unknown) => void };
  #count = 0;
  #reply: Execution['status'] | 'aborted' | undefined;
  #isIdle = false;
  #hasEnded = false;
  #listenerError: { error: unknown } | undefined;

  constructor(source: string, options: ExecuteOptions) {
    this.source = source;
    this.#options = options;
    this.ended = new Promise<Execution>((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // The caller has the same promise; waiting for the end beside it must not make an unhandled rejection.
    this.ended.catch(() => {});
  }

  /** Of the request that runs it. */
  toRequest(): JsonObject {
    return {
      code: this.source,
      silent: false,
      store_history: true,
      user_expressions: {},
      allow_stdin: this.#options.onInput !== undefined,
      // Others' cells that wait in the kernel are not ours to drop.
      stop_on_error: false,
    };
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** What the code is answered; undefined refuses it. */
  async answer({ prompt, password }: JsonObject): Promise<{ value: string } | 'ended' | undefined> {
    const end = new AbortController();
    const stop = () => end.abort();
    this.ended.then(stop, stop);
    const question = { prompt: String(prompt ?? ''), password: password === true };
    const value = await this.#options.onInput?.(question, end.signal).catch(() => undefined);
    if (end.signal.aborted) return 'ended';
    return value === undefined ? undefined : { value };
  }

  /** `aborted`: an error in another's cell emptied the kernel's queue before this one ran. */
  take(message: KernelMessage): 'aborted' | undefined {
    if (this.#hasEnded) {
      if (message.channel === 'iopub') this.#deliver(message);
      return undefined;
    }
    if (message.channel === 'shell') this.#takeReply(message.content);
    else if (message.type === 'status') this.#isIdle ||= message.content.execution_state === 'idle';
    else this.#deliver(message);
    // The last outputs may come after the reply: both have to be there.
    if (this.#reply === undefined || !this.#isIdle) return undefined;
    if (this.#reply === 'aborted' && !this.hasBegun && !this.isAbandoned) {
      [this.#reply, this.#isIdle] = [undefined, false];
      return 'aborted';
    }
    this.end(this.#reply === 'aborted' ? 'interrupted' : this.#reply);
    return undefined;
  }

  end(status: Execution['status']): void {
    this.#hasEnded = true;
    if (this.#listenerError) this.#settle.reject(this.#listenerError.error);
    else this.#settle.resolve({ status, executionCount: this.#count });
  }

  fail(error: unknown): void {
    this.#hasEnded = true;
    this.#settle.reject(error);
  }

  #takeReply({ status, ename, execution_count: count }: JsonObject): void {
    if (typeof count === 'number') this.#count = count;
    const isInterrupted = this.isInterrupted || ename === 'KeyboardInterrupt';
    this.#reply = status === 'ok' ? 'ok' : status === 'aborted' ? 'aborted' : isInterrupted ? 'interrupted' : 'error';
  }

  #deliver({ type, content }: KernelMessage): void {
    const { onOutput, onUpdate, onClear } = this.#options;
    const { transient, ...output } = content;
    const displayId = displayIdOf(transient);
    // That it began may have been said while nobody listened.
    this.hasBegun = true;
    // An error of the listener must not cost the other messages: it comes out at the end.
    try {
      if (type === 'execute_input') this.#begin(content);
      else if (type === 'clear_output') onClear?.(content.wait === true);
      else if (type === 'update_display_data' && displayId !== undefined && onUpdate) onUpdate(displayId, toOutput('display_data', output));
      else if (type === 'update_display_data') onOutput(toOutput('display_data', output), displayId);
      else if (outputTypes.has(type)) onOutput(toOutput(type, output), displayId);
    } catch (error) {
      this.#listenerError ??= { error };
    }
  }

  #begin({ execution_count: count }: JsonObject): void {
    if (typeof count === 'number') this.#count = count;
  }
}

const outputTypes = new Set(['stream', 'display_data', 'execute_result', 'error']);

function toOutput(type: string, content: JsonObject): Output {
  return { ...content, output_type: type } as unknown as Output;
}

function displayIdOf(transient: unknown): string | undefined {
  const id = (transient as { display_id?: unknown } | undefined)?.display_id;
  return typeof id === 'string' ? id : undefined;
}
