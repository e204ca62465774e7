import { Listeners } from '@notebridge/kit/listeners';
import type { KernelTools, ToolCall, ToolCallOptions, ToolPackage } from '@notebridge/notebook/host';
import type { CheckablePackages } from '../type-check/type-checker.js';
import { endedAnswer, type NestedCalls } from './nested-calls.js';

/** The functions that code imports as `generated`, kept up to date. */
export type ToolPackages = Pick<KernelTools, 'package' | 'onPackage' | 'start'> & CheckablePackages;

/**
 * What the code of one Python calls. A Python that is started in advance is nobody's yet: the package comes when it is someone's, and calls
 * are made only while an execution is under way, as its calls. What goes on in the background between two executions is refused as a call of the one before.
 */
export class KernelCalls implements KernelTools {
  readonly #listeners = new Listeners<ToolPackage>();
  #packages: ToolPackages | undefined;
  #stopListening: (() => void) | undefined;
  /** Of the execution under way, or of the last one, which has ended. */
  current: NestedCalls | undefined;

  /** Whose they are; undefined as long as it is nobody's. */
  get packages(): ToolPackages | undefined {
    return this.#packages;
  }

  get package(): ToolPackage {
    return this.#packages?.package ?? { state: 'coming' };
  }

  start(): void {
    this.#packages?.start();
  }

  onPackage(listener: (next: ToolPackage) => void): () => void {
    return this.#listeners.add(listener);
  }

  use(packages: ToolPackages): void {
    if (packages === this.#packages) return;
    this.#stopListening?.();
    this.#packages = packages;
    this.#stopListening = packages.onPackage((next) => this.#listeners.emit(next));
    packages.start();
    this.#listeners.emit(packages.package);
  }

  async call(call: ToolCall, options: ToolCallOptions): Promise<string> {
    return this.current?.call(call, options) ?? endedAnswer();
  }

  close(): void {
    this.#stopListening?.();
    this.current?.end();
  }
}
