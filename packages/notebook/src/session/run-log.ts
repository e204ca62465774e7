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

/** Ended runs that are remembered, and those among them whose outputs are. */
const maxRuns = 200;
const maxKept = 20;

/** The runs of a session, for those who come back for one: what runs and waits, and the last that have ended. */
export class RunLog {
  /** Another one in each session: numbers of runs begin anew. */
  readonly mark = createMark();
  readonly #source: RunSource;
  readonly #records = new Map<number, RunRecord>();
  /** Of runs that an earlier process began. */
  readonly #names = new Map<number, string>();
  #running: number | undefined;
  /** Their ids, in the order in which they ended. */
  readonly #ended: number[] = [];
  readonly #waits = new Set<() => void>();
  readonly #stopListening: (() => void)[];

  constructor(source: RunSource) {
    this.#source = source;
    this.#stopListening = [
      source.onEvent((event) => {
        if (event.type === 'queued' || event.type === 'started' || event.type === 'finished') this.#take(event as RunEvent);
      }),
      source.document.onChange(({ change: { op }, before }) => {
        if (op.type === 'setOutputs') this.#changeRunning(op.id, ({ clears }) => ({ clears: clears + 1 }));
        if (op.type === 'delete') this.#changeRunning(op.id, () => ({ outputs: before?.cell.outputs ?? [] }));
        if (this.#waits.size > 0 && cellIdOf(op) !== undefined) this.#wake();
      }),
    ];
  }

  /** In the order in which they were asked for. */
  all(): readonly RunRecord[] {
    return [...this.#records.values()];
  }

  find(id: number): RunRecord | undefined {
    return this.#records.get(id);
  }

  /** What agents call a run: its number, and the session's own mark, so that one of an earlier session is never taken for it. */
  nameOf(id: number): string {
    return this.#names.get(id) ?? `${this.mark}-${id}`;
  }

  /** By what agents call it. `isEarlier`: the name is of another session. */
  findNamed(name: string): { record: RunRecord | undefined; isEarlier: boolean } {
    const [earlier] = [...this.#names].find(([, known]) => known === name) ?? [];
    const [, mark, id] = /^(\w+)-(\d+)$/.exec(name) ?? [];
    const isEarlier = mark !== undefined && mark !== this.mark;
    return { record: this.#records.get(earlier ?? (isEarlier ? 0 : Number(id))), isEarlier };
  }

  /** The run keeps the name that it has had in an earlier session. */
  keepName(id: number, name: string): void {
    this.#names.set(id, name);
  }

  /** What the run has given so far; undefined for one that never began, or was too long ago. */
  outputsOf(record: RunRecord): readonly Output[] | undefined {
    const cell = record.status === 'running' ? this.#source.document.find(record.cellId) : undefined;
    return cell?.outputs ?? record.outputs;
  }

  /** Resolves when the run has ended, at the latest after so long. Never rejects. */
  wait(id: number, { ms, signals = [], isSeen }: RunWait): Promise<void> {
    const isOver = (): boolean => {
      const record = this.#records.get(id);
      if (record === undefined || record.hasEnded) return true;
      return isSeen !== undefined && !isSeen(record);
    };
    if (signals.some((signal) => signal?.aborted) || ms <= 0 || isOver()) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waits.delete(look);
        for (const signal of signals) signal?.removeEventListener('abort', end);
        resolve();
      };
      const look = (): void => {
        if (isOver()) end();
      };
      const timer = setTimeout(end, ms);
      this.#waits.add(look);
      for (const signal of signals) signal?.addEventListener('abort', end, { once: true });
    });
  }

  close(): void {
    for (const stop of this.#stopListening) stop();
    this.#records.clear();
    this.#wake();
  }

  #take(event: RunEvent): void {
    const { id, cellId, by, startedAt } = event.run;
    const base = { id, cellId, by, clears: this.#records.get(id)?.clears ?? 0, ...(startedAt === undefined ? {} : { startedAt }) };
    if (event.type === 'started') this.#running = id;
    else if (this.#running === id) this.#running = undefined;
    if (event.type !== 'finished') {
      this.#records.set(id, { ...base, status: event.run.state, hasEnded: false });
      return;
    }
    const { status, durationMs } = event;
    const cell = this.#source.document.find(cellId);
    this.#records.set(id, {
      ...base,
      status,
      hasEnded: true,
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(startedAt === undefined
        ? {}
        : { outputs: cell?.outputs ?? this.#records.get(id)?.outputs ?? [], executionCount: cell?.executionCount ?? null }),
    });
    this.#forget(id);
    this.#wake();
  }

  /** If it is this cell that runs. */
  #changeRunning(cellId: string, change: (record: RunRecord) => Partial<RunRecord>): void {
    const record = this.#running === undefined ? undefined : this.#records.get(this.#running);
    if (record?.cellId === cellId) this.#records.set(record.id, { ...record, ...change(record) });
  }

  #forget(endedId: number): void {
    this.#ended.push(endedId);
    const old = this.#records.get(this.#ended.at(-1 - maxKept) ?? 0);
    if (old !== undefined) {
      const { outputs: _, ...record } = old;
      this.#records.set(old.id, record);
    }
    if (this.#ended.length > maxRuns) this.#records.delete(this.#ended.shift() ?? 0);
  }

  #wake(): void {
    for (const look of [...this.#waits]) look();
  }
}
