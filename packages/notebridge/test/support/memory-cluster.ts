import { randomBytes } from 'node:crypto';
import type { ClusterBus } from '@notebridge/cluster/cluster-bus';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import {
  type SharedStore,
  type StoreChange,
  StoreConflict,
  type StoredEntry,
  StoreUnavailable,
} from '@notebridge/system/files/shared-store';

const tickMs = 10;
/** So much passes between two ticks at most, however long this process stood still. Milliseconds. */
const mostPerTickMs = 50;

/**
 * Real time that passes so many times faster: a lease of ten seconds is over in one. While this process stands still, it does so, too: no
 * lease runs out because nobody could renew it.
 */
export function createFastRuntime(speed: number): Runtime {
  let passedMs = 0;
  let seenAt = performance.now();
  let ticking: NodeJS.Timeout | undefined;
  const due = new Map<() => void, number>();
  const pass = (): number => {
    const sinceMs = performance.now() - seenAt;
    seenAt += sinceMs;
    passedMs += Math.min(sinceMs, mostPerTickMs) * speed;
    return passedMs;
  };
  const tick = (): void => {
    const nowMs = pass();
    const over = [...due].filter(([, atMs]) => atMs <= nowMs).sort(([, one], [, other]) => one - other);
    for (const [call] of over) if (due.delete(call)) call();
    ticking = due.size > 0 ? setTimeout(tick, tickMs).unref() : undefined;
  };
  return {
    steady: pass,
    now: () => Date.now(),
    after: (ms, call) => {
      const once = (): void => call();
      due.set(once, pass() + ms);
      ticking ??= setTimeout(tick, tickMs).unref();
      return () => {
        if (!due.delete(once) || due.size > 0) return;
        clearTimeout(ticking);
        ticking = undefined;
      };
    },
    bytes: (count) => randomBytes(count),
  };
}

/** The connection of one hub to what the hubs share. */
export interface MemoryLink {
  store: SharedStore;
  bus: ClusterBus;
  /** Nothing passes any more, in either direction; or again. */
  setCut(isCut: boolean): void;
}

/** A store and a bus in memory, for hubs of one process. They answer in the next turn and lose nothing, but for a hub that is cut off. */
export class MemoryCluster {
  readonly entries = new Map<string, StoredEntry & { stop: () => void }>();
  /** What hubs asked for. */
  readonly counts = { writes: 0, reads: 0, messages: 0 };
  readonly #runtime: Runtime;
  readonly #watchers = new Set<{ prefix: string; tell: (change: StoreChange) => void }>();
  readonly #listeners = new Map<string, Set<(payload: Uint8Array) => void>>();
  #revision = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  connect(): MemoryLink {
    let isCut = false;
    const changed = new Set<(isConnected: boolean) => void>();
    const ask = async <Value>(work: () => Value): Promise<Value> => {
      await nextTurn();
      if (isCut) throw new StoreUnavailable('The test has cut this hub off.');
      return work();
    };
    const missed = new Set<() => void>();
    const store: SharedStore = {
      get: (key) => ask(() => this.#read(key)),
      list: (prefix) => ask(() => this.#below(prefix)),
      create: (key, value, options) => ask(() => this.#write({ key, value, revision: undefined, ttlMs: options?.ttlMs })),
      update: (key, value, revision, options) => ask(() => this.#write({ key, value, revision, ttlMs: options?.ttlMs })),
      remove: (key, revision) => ask(() => this.#remove(key, revision)),
      watch: (prefix, listener) =>
        ask(() => {
          let isOld = false;
          const tellAll = (): void => {
            for (const entry of this.#below(prefix)) listener({ key: entry.key, entry, revision: entry.revision });
          };
          const tell = (change: StoreChange): void => {
            if (isCut) isOld = true;
            else listener(change);
          };
          const heal = (): void => {
            if (isOld) tellAll();
            isOld = false;
          };
          const watcher = { prefix, tell };
          this.#watchers.add(watcher);
          missed.add(heal);
          tellAll();
          return {
            close: () => {
              this.#watchers.delete(watcher);
              missed.delete(heal);
            },
          };
        }),
    };
    const bus: ClusterBus = {
      maxPayload: 1_048_576,
      get isConnected() {
        return !isCut;
      },
      publish: (subject, bytes) => {
        if (isCut) return;
        this.counts.messages++;
        const payload = Buffer.from(bytes);
        setImmediate(() => {
          for (const listener of this.#listeners.get(subject) ?? []) listener(Buffer.from(payload));
        });
      },
      subscribe: (subject, listener) => {
        const all = this.#listeners.get(subject) ?? new Set();
        const own = (payload: Uint8Array): void => {
          if (!isCut) listener(payload);
        };
        this.#listeners.set(subject, all.add(own));
        return () => all.delete(own);
      },
      onConnection: (listener) => {
        changed.add(listener);
        return () => changed.delete(listener);
      },
    };
    const setCut = (cut: boolean): void => {
      isCut = cut;
      if (!cut) for (const heal of missed) heal();
      for (const listener of changed) listener(!cut);
    };
    return { store, bus, setCut };
  }

  /** Bytes of all entries below a prefix, keys and values. */
  bytesBelow(prefix: string): number {
    return this.#below(prefix).reduce((sum, { key, value }) => sum + key.length + Buffer.byteLength(value), 0);
  }

  close(): void {
    for (const { stop } of this.entries.values()) stop();
  }

  #read(key: string): StoredEntry | undefined {
    this.counts.reads++;
    return toPlain(this.entries.get(key));
  }

  #below(prefix: string): StoredEntry[] {
    return [...this.entries.values()].flatMap((entry) => (entry.key.startsWith(prefix) ? (toPlain(entry) ?? []) : []));
  }

  #write({ key, value, revision, ttlMs }: { key: string; value: string; revision: number | undefined; ttlMs: number | undefined }): number {
    this.counts.writes++;
    const known = this.entries.get(key);
    if (known?.revision !== revision) throw new StoreConflict(key);
    known?.stop();
    const made = { key, value, revision: ++this.#revision };
    const expire = (): void => {
      if (this.entries.get(key)?.revision === made.revision) this.#drop(key);
    };
    this.entries.set(key, { ...made, stop: ttlMs === undefined ? () => {} : this.#runtime.after(ttlMs, expire) });
    this.#tell({ key, entry: made, revision: made.revision });
    return made.revision;
  }

  #remove(key: string, revision: number): void {
    this.counts.writes++;
    const known = this.entries.get(key);
    if (known?.revision !== revision) throw new StoreConflict(key);
    known.stop();
    this.#drop(key);
  }

  #drop(key: string): void {
    this.entries.delete(key);
    this.#tell({ key, entry: undefined, revision: ++this.#revision });
  }

  #tell(change: StoreChange): void {
    setImmediate(() => {
      for (const { prefix, tell } of [...this.#watchers]) if (change.key.startsWith(prefix)) tell(change);
    });
  }
}

function toPlain(entry: StoredEntry | undefined): StoredEntry | undefined {
  return entry && { key: entry.key, value: entry.value, revision: entry.revision };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
