import type { ExecuteOptions, Execution } from '../kernel/kernel.js';
import type { CodeAsker } from '../kernel/kernel-tools.js';
import type { Actor } from '../model/cell.js';
import { NotebookError } from '../model/errors.js';
import type { Output } from '../model/output.js';

/** A run of a cell, as UIs and agents see it. */
export interface Run {
  readonly id: number;
  readonly cellId: string;
  /** Who started it. */
  readonly by: Actor;
  readonly state: 'queued' | 'running';
  /** When it began. Milliseconds since 1970; absent while it waits. */
  readonly startedAt?: number;
}

export interface RunOptions {
  by: Actor;
  /** Takes the run out of the queue, or interrupts it. */
  signal?: AbortSignal | undefined;
  /** See `ExecuteOptions`. */
  withdrawn?: AbortSignal | undefined;
  /** Receives each output as the kernel sends it. */
  onOutput?: ((output: Output) => void) | undefined;
  /** Whom servers may ask in calls of the code. Default: of a person's run the windows, else nobody. */
  asker?: CodeAsker | undefined;
}

export interface RunResult {
  status: Execution['status'];
  executionCount: number | null;
  outputs: readonly Output[];
}

/** A run that has been asked for. */
export interface BegunRun {
  /** That of `Run`. */
  readonly id: number;
  /** As `NotebookSession.run` has it. */
  readonly result: Promise<RunResult>;
}

/** A run that an earlier process began in a kernel which has outlived it. */
export interface EarlierRun {
  /** What agents call it. */
  readonly name: string;
  readonly cellId: string;
  readonly by: Actor;
  readonly startedAt: number;
  /** Hears what it gives from now on. */
  readonly follow: (options: ExecuteOptions) => Promise<Execution>;
}

/** A run with all that is needed to carry it out. */
export interface Job {
  readonly id: number;
  readonly cellId: string;
  /** As it was when the run was asked for: an edit in the meantime is not what was meant. */
  readonly source: string;
  readonly options: RunOptions;
  state: 'queued' | 'running';
  startedAt?: number;
  /** Of a run that has reached the kernel already. */
  readonly follow?: EarlierRun['follow'];
  /** Asked to stop; a job that has not reached the kernel yet never does. */
  readonly stop: AbortController;
}

export type RunStatus = Execution['status'] | 'cancelled' | 'failed';

export type RunEvent =
  | { readonly type: 'queued' | 'started'; readonly run: Run }
  /** `durationMs` is absent for one that never began. */
  | { readonly type: 'finished'; readonly run: Run; readonly status: RunStatus; readonly durationMs?: number };

export interface RunQueueHooks {
  execute: (job: Job) => Promise<RunResult>;
  onEvent: (event: RunEvent) => void;
}

interface Waiting {
  job: Job;
  resolve: (result: RunResult) => void;
  reject: (error: unknown) => void;
  stopListening: () => void;
}

/** One run at a time; the others wait in the order in which they came. */
export class RunQueue {
  readonly #hooks: RunQueueHooks;
  #waiting: Waiting[] = [];
  #running: Job | undefined;
  #lastId = 0;

  constructor(hooks: RunQueueHooks) {
    this.#hooks = hooks;
  }

  get running(): Run | undefined {
    return this.#running && toRun(this.#running);
  }

  get queued(): readonly Run[] {
    return this.#waiting.map(({ job }) => toRun(job));
  }

  /** The run's id, and its result. One that a kernel has already (`follow`) comes before any other. */
  add(asked: Pick<Job, 'cellId' | 'source' | 'options' | 'startedAt' | 'follow'>): BegunRun {
    const job: Job = { ...asked, id: ++this.#lastId, state: 'queued', stop: new AbortController() };
    const { cellId } = job;
    const { signal } = job.options;
    if (signal?.aborted) return { id: job.id, result: Promise.reject(notRun('it was cancelled')({ cellId })) };
    const result = new Promise<RunResult>((resolve, reject) => {
      const abort = () => this.#abort(job);
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push({ job, resolve, reject, stopListening: () => signal?.removeEventListener('abort', abort) });
      this.#hooks.onEvent({ type: 'queued', run: toRun(job) });
      this.#startNext();
    });
    return { id: job.id, result };
  }

  /** Ends the runs that wait, with an error; the running one is kept from the kernel if it has not reached it. */
  drop(reason: (run: Run) => NotebookError, isMeant: (run: Run) => boolean = () => true): void {
    const meant = this.#waiting.filter(({ job }) => isMeant(toRun(job)));
    this.#waiting = this.#waiting.filter((waiting) => !meant.includes(waiting));
    for (const waiting of meant) this.#finish(waiting, 'cancelled', () => waiting.reject(reason(toRun(waiting.job))));
  }

  /** Keeps the running job from the kernel, if it is not there yet. */
  stopRunning(): void {
    this.#running?.stop.abort();
  }

  #abort(job: Job): void {
    job.stop.abort();
    this.drop(notRun('it was cancelled'), ({ id }) => id === job.id);
  }

  #startNext(): void {
    if (this.#running) return;
    const waiting = this.#waiting.shift();
    if (!waiting) return;
    const { job } = waiting;
    this.#running = job;
    job.state = 'running';
    job.startedAt ??= Date.now();
    this.#hooks.onEvent({ type: 'started', run: toRun(job) });
    void this.#carryOut(waiting);
  }

  async #carryOut(waiting: Waiting): Promise<void> {
    let settle: () => void;
    let status: RunStatus;
    try {
      const result = await this.#hooks.execute(waiting.job);
      status = result.status;
      settle = () => waiting.resolve(result);
    } catch (error) {
      status = error instanceof NotebookError && error.code === 'cancelled' ? 'cancelled' : 'failed';
      settle = () => waiting.reject(error);
    }
    this.#running = undefined;
    this.#finish(waiting, status, settle);
    this.#startNext();
  }

  #finish({ job, stopListening }: Waiting, status: RunStatus, settle: () => void): void {
    stopListening();
    settle();
    const took = job.startedAt === undefined ? {} : { durationMs: Math.max(0, Date.now() - job.startedAt) };
    this.#hooks.onEvent({ type: 'finished', run: toRun(job), status, ...took });
  }
}

/** The error of a run that came to nothing, and why. */
export function notRun(reason: string): (run: Pick<Run, 'cellId'>) => NotebookError {
  return ({ cellId }) => new NotebookError('cancelled', `The cell "${cellId}" did not run: ${reason}.`, { data: { cellId } });
}

/** What is told of it. */
export function toRun({ id, cellId, options, state, startedAt }: Job): Run {
  return { id, cellId, by: options.by, state, ...(startedAt === undefined ? {} : { startedAt }) };
}
