import type {
  ExecuteOptions,
  Execution,
  Kernel,
  KernelTools,
  ToolCall,
  ToolCallOptions,
  ToolPackage,
  Written,
  WrittenBounds,
} from '@notebridge/notebook/host';
import type { Principal } from '@notebridge/protocol/core/principal';
import { Listeners } from '@notebridge/protocol/util/listeners';
import type { CheckablePackages } from '../type-check/type-checker.js';
import type { KernelStartObserver } from './kernel-starts.js';
import { endedAnswer, type NestedCalls } from './nested-calls.js';

/** Makes what runs the code of an execution, not started; the code calls what `tools` gives. */
export type CreateCodeKernel = (tools: KernelTools) => Promise<Kernel>;

/** The functions that code imports as `generated`, kept up to date. */
export type ToolPackages = Pick<KernelTools, 'package' | 'onPackage' | 'start'> & CheckablePackages;

/** On whose behalf the code of a Python runs, and what it may import. */
export interface KernelUser {
  principal: Principal;
  packages: ToolPackages;
}

/** What makes code see the newest functions. */
const reloadPackage =
  "__import__('importlib').reload(__import__('sys').modules['generated']) if 'generated' in __import__('sys').modules else None;";

/**
 * One Python, of one principal to its end: what code of one has left behind may act for whoever comes next. One that is started in advance is
 * nobody's yet: the package comes when it is someone's, and calls are made only while an execution is under way, as its calls. What goes on in
 * the background between two executions is refused as a call of the one before.
 */
export class CodeKernel implements KernelTools {
  readonly #listeners = new Listeners<ToolPackage>();
  readonly #create: CreateCodeKernel;
  readonly #starts: KernelStartObserver | undefined;
  #user: KernelUser | undefined;
  #stopListening: (() => void) | undefined;
  /** Of the execution under way, or of the last one, which has ended. */
  #calls: NestedCalls | undefined;
  #creating: Promise<Kernel> | undefined;
  #opened: Promise<Kernel> | undefined;
  #state: () => Kernel['state'] = () => 'starting';
  #isClosed = false;
  /** Of the functions, as code can have imported them. */
  #version: string | undefined;
  /** Code that ran in it may have changed what the functions of the tools are. */
  mayBePatched = false;
  /** It has said what protects the machine from its code. */
  hasToldLayers = false;

  constructor(create: CreateCodeKernel, starts?: KernelStartObserver) {
    this.#create = create;
    this.#starts = starts;
  }

  /** True once nothing can run in it any more. */
  get isDead(): boolean {
    return this.#isClosed || this.#state() === 'dead';
  }

  /** Whose it is. */
  get user(): KernelUser {
    if (this.#user === undefined) throw new Error("The Python is nobody's yet.");
    return this.#user;
  }

  /** Before anything of theirs runs, and once. */
  giveTo(user: KernelUser): void {
    const { packages } = user;
    this.#user = user;
    this.#stopListening = packages.onPackage((next) => this.#listeners.emit(next));
    packages.start();
    this.#listeners.emit(packages.package);
  }

  /** For its code, as `start`, `onPackage` and `call`. */
  get package(): ToolPackage {
    return this.#user?.packages.package ?? { state: 'coming' };
  }

  start(): void {
    this.#user?.packages.start();
  }

  onPackage(listener: (next: ToolPackage) => void): () => void {
    return this.#listeners.add(listener);
  }

  async call(call: ToolCall, options: ToolCallOptions): Promise<string> {
    return this.#calls?.call(call, options) ?? endedAnswer();
  }

  /** Starts it, unless it runs. Rejects with a message that says what to do. */
  async open(): Promise<Kernel> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Runs code with these calls. The next one comes when this one has ended. Rejects when the interpreter died. */
  async run(source: string, calls: NestedCalls, options: ExecuteOptions): Promise<Execution> {
    const kernel = await this.open();
    await this.#loadNewest(kernel, options.signal);
    this.#calls = calls;
    try {
      return await kernel.execute(source, options);
    } finally {
      calls.end();
    }
  }

  /** Files that its code has written since the last time; undefined where there are none to ask for. Rejects if it does not answer. */
  async takeWritten(bounds: WrittenBounds): Promise<Written | undefined> {
    if (this.isDead) return undefined;
    return (await this.open()).takeWritten?.(bounds);
  }

  /** Closing twice is harmless. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopListening?.();
    this.#calls?.end();
    const kernel = await this.#creating?.catch(() => undefined);
    await kernel?.close();
  }

  /** What was imported stays as it was, and search and describe show what there is now: a session may be older than a tool. */
  async #loadNewest(kernel: Kernel, signal: AbortSignal | undefined): Promise<void> {
    const next = this.package;
    const version = next.state === 'there' ? next.version : undefined;
    const before = this.#version;
    this.#version = version ?? before;
    if (before === undefined || version === undefined || version === before) return;
    await kernel.execute(reloadPackage, { onOutput: () => {}, ...(signal === undefined ? {} : { signal }) });
  }

  async #open(): Promise<Kernel> {
    const startedAt = performance.now();
    try {
      this.#creating = this.#create(this);
      const kernel = await this.#creating;
      if (this.#isClosed) throw new Error('The Python was closed before it had started.');
      this.#state = () => kernel.state;
      await kernel.start();
      this.#starts?.kernelStarted('ok', performance.now() - startedAt);
      return kernel;
    } catch (error) {
      this.#state = () => 'dead';
      // One that was not wanted any more has not failed.
      if (!this.#isClosed) this.#starts?.kernelStarted('failed', performance.now() - startedAt);
      throw error;
    }
  }
}
