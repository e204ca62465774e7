import { messageOf } from '@notebridge/protocol/util/message-of';
import type { MimeBundle, Output } from '../model/output.js';
import { PendingExecution } from './execution-queue.js';
import type { Completions, ExecuteOptions, Execution, Kernel, KernelInfo, KernelState } from './kernel.js';
import { KernelError } from './kernel-error.js';
import type { Layer } from './layers.js';
import { within } from './within.js';

export interface QueueOptions {
  /** How long the language may take to load. Default 60 000. */
  startTimeoutMs?: number | undefined;
  /** How long code may take to end after an interrupt before its language is restarted instead. Default 5000. */
  interruptGraceMs?: number | undefined;
}

/** What runs the cells between one start and the next. */
export interface Engine {
  /** Its end comes by `onEnd`. One at a time. */
  run(execution: PendingExecution): void;
  interrupt(execution: PendingExecution): void;
  /** No event comes afterwards. `now`: it is not asked first, since its code lets nothing end it. */
  end(now?: boolean): Promise<void>;
}

/** Of an engine that was ended, and of one that is over, none counts any more. */
export interface EngineEvents {
  /** It runs cells from now on. Only the first one counts: code may forge another. */
  onReady: (info: KernelInfo, layers: readonly Layer[] | undefined) => void;
  onEnd: (execution: PendingExecution, status: Execution['status']) => void;
  /** It has ended by itself, or cannot begin. */
  onOver: (reason: string) => void;
}

/** The same for code that nobody may run any more. Milliseconds. */
const withdrawnGraceMs = 500;

/** What every kernel of ours has in common: the queue, the states, interrupt and restart. What runs the code is an `Engine`. */
export abstract class QueuedKernel<Live extends Engine = Engine> implements Kernel {
  /** What an error says that was started, or restarted. */
  protected abstract readonly engineName: string;
  readonly #startTimeoutMs: number;
  readonly #graceMs: number;
  readonly #listeners = new Set<(state: KernelState) => void>();
  #info: KernelInfo;
  #layers: readonly Layer[] | undefined;
  #state: KernelState = 'starting';
  #engine: Live | undefined;
  /** Has the start under way fail, unless it has succeeded. */
  #failStart = (_why: string): void => {};
  /** The start under way, or the last one. */
  #started: Promise<void> | undefined;
  #current: PendingExecution | undefined;
  #queue: PendingExecution[] = [];
  #deathReason = '';
  #closed = false;

  /** `info`: until it has started once. */
  constructor({ startTimeoutMs = 60_000, interruptGraceMs = 5000 }: QueueOptions, info: KernelInfo) {
    this.#startTimeoutMs = startTimeoutMs;
    this.#graceMs = interruptGraceMs;
    this.#info = info;
  }

  protected abstract open(events: EngineEvents): Live;
  abstract complete(code: string, position: number): Promise<Completions>;
  abstract inspect(code: string, position: number, detail?: 0 | 1): Promise<MimeBundle | undefined>;

  /** Nothing runs, and something could: undefined otherwise. */
  protected get idleEngine(): Live | undefined {
    return this.#state === 'idle' ? this.#engine : undefined;
  }

  protected get engine(): Live | undefined {
    return this.#engine;
  }

  get info(): KernelInfo {
    return this.#info;
  }

  get layers(): readonly Layer[] | undefined {
    return this.#layers;
  }

  get state(): KernelState {
    return this.#state;
  }

  onState(listener: (state: KernelState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async start(): Promise<void> {
    this.#assertOpen('Starting the kernel');
    this.#started ??= this.#launch();
    return this.#started;
  }

  async execute(source: string, options: ExecuteOptions): Promise<Execution> {
    this.#assertOpen('Running a cell');
    if (this.#state === 'dead')
      throw new KernelError('kernel_dead', `Running a cell: the kernel is dead (${this.#deathReason}). Restart it first`);
    if (options.signal?.aborted) return { status: 'interrupted', executionCount: 0 };
    const execution = new PendingExecution(source, options, (aborted) => this.#abort(aborted));
    this.#queue.push(execution);
    // A failed start ends what is queued.
    this.start().catch(() => {});
    this.#runNext();
    return execution.ended;
  }

  /** Ends the running cell; those behind it stay in the queue. Resolves when it has ended, if need be by a restart. */
  async interrupt(): Promise<void> {
    const execution = this.#current;
    if (!execution) return;
    execution.interrupting ??= this.#interrupt(execution);
    await execution.interrupting;
  }

  /** Takes queued cells out of the queue as well: they would not find their variables. */
  async restart(): Promise<void> {
    return this.#restart(false);
  }

  async #restart(now: boolean): Promise<void> {
    this.#assertOpen('Restarting the kernel');
    this.#endAll((execution) => execution.end('interrupted'));
    // What is just starting is as fresh as it can be.
    if (this.#state !== 'starting' || !this.#started) this.#started = this.#relaunch(now);
    return this.#started;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#endAll((execution) => execution.end('interrupted'));
    this.#deathReason = 'it was closed';
    const engine = this.#takeEngine();
    this.#setState('dead');
    this.#listeners.clear();
    await engine?.end();
  }

  async #launch(): Promise<void> {
    this.#setState('starting');
    let engine: Live | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const { engineName } = this;
        let isReady = false;
        this.#failStart = (why) => reject(new KernelError('kernel_start_failed', `Starting ${engineName}: ${why}`));
        const onOver = (reason: string): void => {
          if (this.#engine !== engine) return;
          if (isReady) this.#die(reason, 'kernel_died');
          else this.#failStart(`${reason}. Restart the kernel to try again`);
        };
        timer = setTimeout(() => onOver(`it was not ready after ${this.#startTimeoutMs / 1000} s`), this.#startTimeoutMs);
        engine = this.open({
          onReady: (info, layers) => {
            if (this.#engine !== engine || isReady) return;
            isReady = true;
            [this.#info, this.#layers] = [info, layers];
            resolve();
          },
          onEnd: (execution, status) => this.#end(execution, status),
          onOver,
        });
        this.#engine = engine;
      });
    } catch (error) {
      if (this.#engine === engine) this.#die(messageOf(error), 'kernel_start_failed');
      throw error;
    } finally {
      clearTimeout(timer);
    }
    // Closed, or died, between being ready and the notification.
    if (this.#engine !== engine || this.#state !== 'starting') return;
    this.#setState('idle');
    this.#runNext();
  }

  async #relaunch(now: boolean): Promise<void> {
    this.#setState('starting');
    await this.#takeEngine()?.end(now);
    this.#assertOpen('Restarting the kernel');
    await this.#launch();
  }

  #runNext(): void {
    if (this.#state !== 'idle' || !this.#engine) return;
    const execution = this.#queue.shift();
    if (!execution) return;
    this.#current = execution;
    this.#setState('busy');
    this.#engine.run(execution);
  }

  /** Its later messages are ignored. */
  #takeEngine(): Live | undefined {
    const engine = this.#engine;
    this.#engine = undefined;
    this.#failStart('it was ended before it was ready');
    return engine;
  }

  #end(execution: PendingExecution, status: Execution['status']): void {
    if (execution !== this.#current) return;
    this.#current = undefined;
    execution.end(status);
    this.#setState('idle');
    this.#runNext();
  }

  #abort(execution: PendingExecution): void {
    if (execution === this.#current) {
      void this.interrupt();
      return;
    }
    this.#queue = this.#queue.filter((queued) => queued !== execution);
    execution.end('interrupted');
  }

  async #interrupt(execution: PendingExecution): Promise<void> {
    const ended = execution.ended.then(
      () => 'ended' as const,
      () => 'ended' as const,
    );
    const withdrawn = execution.withdrawn.then(() => 'withdrawn' as const);
    this.#engine?.interrupt(execution);
    let how = await this.#interruptAgain(execution, this.#graceMs, Promise.race([ended, withdrawn]));
    if (how === 'withdrawn') how = await this.#interruptAgain(execution, withdrawnGraceMs, ended);
    if (how === 'ended' || this.#current !== execution) return;
    execution.show(this.#restartedOutput());
    this.#restart(true).catch(() => {});
    await ended;
  }

  /** The second one also ends what the first could not: a task in the background that gives nobody else a turn. */
  async #interruptAgain<How>(execution: PendingExecution, graceMs: number, until: Promise<How>): Promise<How | undefined> {
    const how = await within(graceMs / 2, until);
    if (how !== undefined) return how;
    this.#engine?.interrupt(execution);
    return within(graceMs / 2, until);
  }

  #restartedOutput(): Output {
    const evalue = `The code did not end when it was interrupted, so ${this.engineName} was restarted. Its variables are gone`;
    return { output_type: 'error', ename: 'KernelRestarted', evalue, traceback: [`\x1b[31mKernelRestarted\x1b[39m: ${evalue}`] };
  }

  #die(reason: string, code: 'kernel_died' | 'kernel_start_failed'): void {
    void this.#takeEngine()?.end();
    this.#started = undefined;
    this.#deathReason = reason;
    const doing =
      code === 'kernel_died' ? `Running a cell: the kernel died (${reason}), its variables are gone. Restart it: restart_kernel` : reason;
    const error = new KernelError(code, doing);
    this.#endAll((execution) => execution.fail(error));
    this.#setState('dead');
  }

  #endAll(end: (execution: PendingExecution) => void): void {
    const all = this.#current ? [this.#current, ...this.#queue] : this.#queue;
    this.#current = undefined;
    this.#queue = [];
    for (const execution of all) end(execution);
  }

  #setState(state: KernelState): void {
    if (this.#state === state || (this.#closed && state !== 'dead')) return;
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }

  #assertOpen(doing: string): void {
    if (this.#closed) throw new KernelError('kernel_closed', `${doing}: the kernel is closed. Create a new one`);
  }
}
