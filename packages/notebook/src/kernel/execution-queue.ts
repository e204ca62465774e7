import { whenAborted } from '@notebridge/protocol/util/when-aborted';
import type { Output } from '../model/output.js';
import type { ExecuteOptions, Execution, InputQuestion } from './kernel.js';
import type { CodeAsker } from './kernel-tools.js';
import type { Report } from './messages.js';

/** Runs of one kernel's life that output may still come for: what code shows after its cell has ended belongs to that cell. */
export const maxRecentRuns = 1000;

/** One cell's run, from the queue to its end, which comes once. Output may come later. */
export class PendingExecution {
  readonly source: string;
  readonly ended: Promise<Execution>;
  /** 0 while in the queue, and if it never ran. */
  count = 0;
  /** The interrupt under way. */
  interrupting: Promise<void> | undefined;
  readonly #options: ExecuteOptions;
  #settle!: { resolve: (execution: Execution) => void; reject: (error: unknown) => void };
  #listenerError: { error: unknown } | undefined;

  constructor(source: string, options: ExecuteOptions, onAbort: (execution: PendingExecution) => void) {
    this.source = source;
    this.#options = options;
    const abort = () => onAbort(this);
    const { signal } = options;
    this.ended = new Promise<Execution>((resolve, reject) => {
      this.#settle = { resolve, reject };
    }).finally(() => signal?.removeEventListener('abort', abort));
    // The caller has the same promise; waiting for the end beside it must not make an unhandled rejection.
    this.ended.catch(() => {});
    signal?.addEventListener('abort', abort, { once: true });
  }

  take(report: Report): void {
    // An error of the listener must not cost the kernel its place in the queue: it comes out at the end.
    try {
      this.#deliver(report);
    } catch (error) {
      this.#listenerError ??= { error };
    }
  }

  show(output: Output): void {
    this.take({ type: 'output', count: this.count, output, characters: 0 });
  }

  /** Whether somebody answers questions of the code. */
  get canAsk(): boolean {
    return this.#options.onInput !== undefined;
  }

  /** Resolves when nobody may run it any more. */
  get withdrawn(): Promise<void> {
    const { withdrawn } = this.#options;
    return withdrawn === undefined ? new Promise(() => {}) : whenAborted(withdrawn);
  }

  /** Whom servers may ask in the calls of this code. */
  get asker(): CodeAsker | undefined {
    return this.#options.asker;
  }

  /** Undefined: nobody answers it. Never rejects. */
  async ask(question: InputQuestion, signal: AbortSignal): Promise<string | undefined> {
    try {
      return await this.#options.onInput?.(question, signal);
    } catch (error) {
      this.#listenerError ??= { error };
      return undefined;
    }
  }

  end(status: Execution['status']): void {
    if (this.#listenerError) this.#settle.reject(this.#listenerError.error);
    else this.#settle.resolve({ status, executionCount: this.count });
  }

  fail(error: unknown): void {
    this.#settle.reject(error);
  }

  #deliver(report: Report): void {
    const { onOutput, onClear, onUpdate } = this.#options;
    if (report.type === 'clear') onClear?.(report.wait);
    if (report.type === 'done' && report.result) onOutput(report.result);
    if (report.type !== 'output') return;
    const { output, displayId, update } = report;
    if (update && displayId !== undefined && onUpdate) onUpdate(displayId, output);
    else onOutput(output, displayId);
  }
}
