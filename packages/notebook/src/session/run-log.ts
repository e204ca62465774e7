import { CellRuns } from '@notebridge/protocol/runs/cell-runs';
import { Listeners } from '@notebridge/protocol/util/listeners';
import type { Actor } from '../model/cell.js';
import type { NotebookDocument } from '../model/document.js';
import { cellIdOf } from '../model/operation.js';
import type { Output } from '../model/output.js';
import type { RunEvent, RunStatus } from './run-queue.js';

/** One run, from the moment it was asked for. */
export interface RunRecord {
  readonly id: number;
  readonly cellId: string;
  /** Who started it. */
  readonly by: Actor;
  readonly status: 'queued' | 'running' | RunStatus;
  /** Milliseconds since 1970; absent for one that never began. */
  readonly startedAt?: number;
  /** Absent until it has ended. Milliseconds. */
  readonly durationMs?: number;
  /** What it had given when it ended, or its cell was deleted; undefined before, and when it was so long ago that only the cell may have them. */
  readonly outputs?: readonly Output[];
  readonly executionCount?: number | null;
  readonly hasEnded: boolean;
  /** How often its outputs were cleared and began anew. */
  readonly clears: number;
}

/** What a log needs of a session. */
export interface RunSource {
  readonly document: NotebookDocument;
  onEvent(listener: (event: { readonly type: string }) => void): () => void;
}

export interface RunWait {
  /** Milliseconds. */
  ms: number;
  /** Any of them ends the wait. */
  signals?: readonly (AbortSignal | undefined)[];
  /** Whether the caller knows all of it: what it does not ends the wait as well. Default: nothing but the end does. */
  isSeen?: ((record: RunRecord) => boolean) | undefined;
}

/** Four letters or digits. */
function createMark(): string {
  return Math.floor((1 + Math.random()) * 36 ** 4)
    .toString(36)
    .slice(1);
}

/** The runs of a session, as its events and its document tell of them. */
export class RunLog extends CellRuns<RunRecord> {
  readonly #source: RunSource;
  #running: number | undefined;
  readonly #changed = new Listeners<undefined>();
  readonly #stopListening: (() => void)[];

  constructor(source: RunSource) {
    super({ mark: createMark(), withoutOutputs: ({ outputs: _, ...record }) => record });
    this.#source = source;
    this.#stopListening = [
      source.onEvent((event) => {
        if (event.type === 'queued' || event.type === 'started' || event.type === 'finished') this.#take(event as RunEvent);
      }),
      source.document.onChange(({ change: { op }, before }) => {
        if (op.type === 'setOutputs') this.#changeRunning(op.id, ({ clears }) => ({ clears: clears + 1 }));
        if (op.type === 'delete') this.#changeRunning(op.id, () => ({ outputs: before?.cell.outputs ?? [] }));
        if (cellIdOf(op) !== undefined) this.#changed.emit(undefined);
      }),
    ];
  }

  /** What the run has given so far; undefined for one that never began, or was too long ago. */
  outputsOf(record: RunRecord): readonly Output[] | undefined {
    const cell = record.status === 'running' ? this.#source.document.find(record.cellId) : undefined;
    return cell?.outputs ?? record.outputs;
  }

  /** Resolves when the run has ended, at the latest after so long. Never rejects. */
  wait(id: number, { ms, signals = [], isSeen }: RunWait): Promise<void> {
    const isOver = (): boolean => {
      const record = this.find(id);
      if (record === undefined || record.hasEnded) return true;
      return isSeen !== undefined && !isSeen(record);
    };
    if (signals.some((signal) => signal?.aborted) || ms <= 0 || isOver()) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        stopListening();
        for (const signal of signals) signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      const stopListening = this.#changed.add(() => {
        if (isOver()) end();
      });
      for (const signal of signals) signal?.addEventListener('abort', end, { once: true });
    });
  }

  close(): void {
    for (const stop of this.#stopListening) stop();
    this.clear();
    this.#changed.emit(undefined);
  }

  #take(event: RunEvent): void {
    const { id, cellId, by, startedAt } = event.run;
    const known = this.find(id);
    const base = { id, cellId, by, clears: known?.clears ?? 0, ...(startedAt === undefined ? {} : { startedAt }) };
    if (event.type === 'started') this.#running = id;
    else if (this.#running === id) this.#running = undefined;
    if (event.type !== 'finished') return this.set({ ...base, status: event.run.state, hasEnded: false });
    const { status, durationMs } = event;
    const cell = this.#source.document.find(cellId);
    const record = {
      ...base,
      status,
      hasEnded: true,
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(startedAt === undefined ? {} : { outputs: cell?.outputs ?? known?.outputs ?? [], executionCount: cell?.executionCount ?? null }),
    };
    this.set(record);
    this.noteEnd(record);
    this.#changed.emit(undefined);
  }

  /** If it is this cell that runs. */
  #changeRunning(cellId: string, change: (record: RunRecord) => Partial<RunRecord>): void {
    const record = this.#running === undefined ? undefined : this.find(this.#running);
    if (record?.cellId === cellId) this.set({ ...record, ...change(record) });
  }
}
