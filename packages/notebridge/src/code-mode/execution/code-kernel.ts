import type { ExecuteOptions, Execution, Kernel, Written, WrittenBounds } from '@notebridge/notebook/host';
import { type Principal, principalKey } from '../../core/principal.js';
import type { KernelStartObserver } from '../kernel-starts.js';
import { KernelCalls, type ToolPackages } from './kernel-calls.js';
import type { NestedCalls } from './nested-calls.js';

/** Makes what runs the code of an execution, not started; the code calls what `calls` gives. */
export type CreateCodeKernel = (calls: KernelCalls) => Promise<Kernel>;

/** What makes code see the newest functions. */
const reloadPackage =
  "__import__('importlib').reload(__import__('sys').modules['generated']) if 'generated' in __import__('sys').modules else None;";

/** One Python, and on whose behalf code ran in it. */
export class CodeKernel {
  readonly #calls = new KernelCalls();
  readonly #principals = new Map<string, Principal>();
  readonly #create: CreateCodeKernel;
  readonly #starts: KernelStartObserver | undefined;
  #creating: Promise<Kernel> | undefined;
  #started: Promise<Kernel> | undefined;
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

  /** All on whose behalf code ever ran in it: what one of them has left behind may act for the others. */
  get principals(): readonly Principal[] {
    return [...this.#principals.values()];
  }

  /** What its code imports; undefined before it is anybody's. */
  get packages(): ToolPackages | undefined {
    return this.#calls.packages;
  }

  /** Becomes theirs. Before anything of theirs runs. */
  join(principal: Principal, packages: ToolPackages): void {
    this.#principals.set(principalKey(principal), principal);
    this.#calls.use(packages);
  }

  /** Rejects with a message that says what to do. */
  async start(): Promise<Kernel> {
    this.#started ??= this.#open();
    return this.#started;
  }

  /** Runs code with these calls. The next one comes when this one has ended. Rejects when the interpreter died. */
  async run(source: string, calls: NestedCalls, options: ExecuteOptions): Promise<Execution> {
    const kernel = await this.start();
    await this.#loadNewest(kernel, options.signal);
    this.#calls.current = calls;
    try {
      return await kernel.execute(source, options);
    } finally {
      calls.end();
    }
  }

  /** Files that its code has written since the last time; undefined where there are none to ask for. Rejects if it does not answer. */
  async takeWritten(bounds: WrittenBounds): Promise<Written | undefined> {
    if (this.isDead) return undefined;
    return (await this.start()).takeWritten?.(bounds);
  }

  /** What was imported stays as it was, and search and describe show what there is now: a session may be older than a tool. */
  async #loadNewest(kernel: Kernel, signal: AbortSignal | undefined): Promise<void> {
    const { package: next } = this.#calls;
    const version = next.state === 'there' ? next.version : undefined;
    const before = this.#version;
    this.#version = version ?? before;
    if (before === undefined || version === undefined || version === before) return;
    await kernel.execute(reloadPackage, { onOutput: () => {}, ...(signal === undefined ? {} : { signal }) });
  }

  /** Closing twice is harmless. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#calls.close();
    const kernel = await this.#creating?.catch(() => undefined);
    await kernel?.close();
  }

  async #open(): Promise<Kernel> {
    const startedAt = performance.now();
    try {
      this.#creating = this.#create(this.#calls);
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
