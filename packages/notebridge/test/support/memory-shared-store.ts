import type { Runtime } from '@notebridge/protocol/util/runtime';
import {
  assertStoreKey,
  assertStoreValue,
  type SharedStore,
  type StoreChange,
  StoreConflict,
  type StoredEntry,
  StoreUnavailable,
  type WriteOptions,
} from '@notebridge/system/files/shared-store';

/** What goes wrong with one request: it does not arrive, or its answer does not. */
export type StoreFault = 'request lost' | 'answer lost';

/** The store as one hub has it. */
export interface MemoryStoreClient extends SharedStore {
  /** While true no request arrives, and what the watch would tell waits. */
  isCut: boolean;
  /** Asked for each write. */
  fault: (kind: 'create' | 'update' | 'remove', key: string) => StoreFault | undefined;
  /** How many writes a read is behind. */
  lag: number;
  writes: number;
}

/** One store in memory for several hubs of a test, each with a client of its own. Time to live is of the runtime. */
export class MemorySharedStore {
  readonly #runtime: Runtime;
  readonly #log: StoreChange[] = [];
  readonly #entries = new Map<string, StoredEntry & { endsAt: number }>();
  readonly #onWrite = new Set<() => void>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  client(): MemoryStoreClient {
    const read = async <T>(of: (log: readonly StoreChange[]) => T): Promise<T> => {
      await turn();
      if (client.isCut) throw new StoreUnavailable('cut');
      this.#expire();
      return of(this.#log.slice(0, this.#log.length - client.lag));
    };
    const write = async (kind: 'create' | 'update' | 'remove', key: string, apply: () => number): Promise<number> => {
      await turn();
      if (client.isCut) throw new StoreUnavailable('cut');
      const fault = client.fault(kind, key);
      if (fault === 'request lost') throw new StoreUnavailable(fault);
      client.writes++;
      this.#expire();
      const revision = apply();
      if (fault === 'answer lost') throw new StoreUnavailable(fault);
      return revision;
    };
    const asOf = (log: readonly StoreChange[]): Map<string, StoredEntry> => {
      const found = new Map<string, StoredEntry>();
      for (const { key, entry } of log) {
        found.delete(key);
        if (entry !== undefined) found.set(key, entry);
      }
      return found;
    };
    const client: MemoryStoreClient = {
      isCut: false,
      fault: () => undefined,
      lag: 0,
      writes: 0,
      get: async (key) => {
        assertStoreKey(key);
        return read((log) => asOf(log).get(key));
      },
      list: (prefix) => read((log) => [...asOf(log).values()].filter(({ key }) => key.startsWith(prefix))),
      create: (key, value, options) =>
        write('create', key, () => {
          if (this.#entries.has(key)) throw new StoreConflict(key);
          return this.#put(key, value, options);
        }),
      update: (key, value, revision, options) => write('update', key, () => this.#assert(key, revision).#put(key, value, options)),
      remove: async (key, revision) => {
        await write('remove', key, () => this.#assert(key, revision).#drop(key));
      },
      watch: (prefix, listener) => this.#watch(client, prefix, listener),
    };
    return client;
  }

  async #watch(client: MemoryStoreClient, prefix: string, listener: (change: StoreChange) => void): Promise<{ close(): void }> {
    await turn();
    if (client.isCut) throw new StoreUnavailable('cut');
    this.#expire();
    let position = this.#log.length;
    let isClosed = false;
    const tell = async (): Promise<void> => {
      await turn();
      while (!isClosed && !client.isCut && position < this.#log.length) {
        const change = this.#log[position++] as StoreChange;
        // Once more, as it may.
        if (change.key.startsWith(prefix)) for (let time = 0; time < 2; time++) listener(change);
      }
    };
    const onWrite = (): void => void tell();
    const stopLooking = this.#every(250, onWrite);
    this.#onWrite.add(onWrite);
    for (const { key, value, revision } of [...this.#entries.values()].sort((a, b) => a.revision - b.revision))
      if (key.startsWith(prefix)) listener({ key, entry: { key, value, revision }, revision });
    return {
      close: () => {
        isClosed = true;
        stopLooking();
        this.#onWrite.delete(onWrite);
      },
    };
  }

  /** For what a cut client has missed, and what has run out. */
  #every(ms: number, call: () => void): () => void {
    let stop = (): void => {};
    const again = (): void => {
      stop = this.#runtime.after(ms, () => {
        this.#expire();
        call();
        again();
      });
    };
    again();
    return () => stop();
  }

  #assert(key: string, revision: number): this {
    if (this.#entries.get(key)?.revision !== revision) throw new StoreConflict(key);
    return this;
  }

  #put(key: string, value: string, { ttlMs }: WriteOptions = {}): number {
    assertStoreValue(value);
    const entry = { key, value, revision: this.#log.length + 1 };
    const endsAt = ttlMs === undefined ? Number.POSITIVE_INFINITY : this.#runtime.steady() + Math.ceil(ttlMs / 1000) * 1000;
    this.#entries.set(key, { ...entry, endsAt });
    return this.#append({ key, entry, revision: entry.revision });
  }

  #drop(key: string): number {
    this.#entries.delete(key);
    return this.#append({ key, entry: undefined, revision: this.#log.length + 1 });
  }

  #append(change: StoreChange): number {
    this.#log.push(change);
    for (const listener of this.#onWrite) listener();
    return change.revision;
  }

  #expire(): void {
    for (const { key, endsAt } of [...this.#entries.values()]) if (endsAt <= this.#runtime.steady()) this.#drop(key);
  }
}

/** Nothing is answered in the turn in which it was asked. */
function turn(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(resolve));
}
