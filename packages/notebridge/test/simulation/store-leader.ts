import { type StoreChange, StoreConflict, type StoredEntry, type WriteOptions } from '@notebridge/system/files/shared-store';
import type { World } from './world.js';

interface LoggedChange {
  change: StoreChange;
  at: number;
}

/** What the leader of the store has, each write in one step; and all that ever was, for replicas and watches that are behind. */
export class StoreLeader {
  readonly log: StoreChange[] = [];
  readonly #world: World;
  readonly #entries = new Map<string, StoredEntry>();
  readonly #histories = new Map<string, LoggedChange[]>();
  readonly #ends = new Map<string, () => void>();
  readonly #listeners = new Set<() => void>();
  /** The clock of the servers goes a little wrong too. */
  readonly #rate: number;
  #revision = 0;

  constructor(world: World) {
    this.#world = world;
    this.#rate = world.chance.between(0.999, 1.001);
  }

  create(key: string, value: string, options: WriteOptions): number {
    if (this.#entries.has(key)) throw new StoreConflict(key);
    return this.#write(key, value, options);
  }

  update(key: string, value: string, revision: number, options: WriteOptions): number {
    if (this.#entries.get(key)?.revision !== revision) throw new StoreConflict(key);
    return this.#write(key, value, options);
  }

  remove(key: string, revision: number): void {
    if (this.#entries.get(key)?.revision !== revision) throw new StoreConflict(key);
    this.#remove(key);
  }

  /** An entry as a replica has it that is so much behind. */
  read(key: string, lagMs: number): StoredEntry | undefined {
    if (lagMs <= 0) return this.#entries.get(key);
    return this.#histories.get(key)?.findLast(({ at }) => at <= this.#world.now - lagMs)?.change.entry;
  }

  list(prefix: string, lagMs: number): StoredEntry[] {
    const keys = [...this.#histories.keys()].filter((key) => key.startsWith(prefix));
    return keys.flatMap((key) => this.read(key, lagMs) ?? []);
  }

  /** The entries below a prefix as they were after so many changes. */
  asOf(prefix: string, changes: number): StoredEntry[] {
    const entries = new Map<string, StoredEntry>();
    for (const { key, entry } of this.log.slice(0, changes)) {
      if (!key.startsWith(prefix)) continue;
      if (entry) entries.set(key, entry);
      else entries.delete(key);
    }
    return [...entries.values()];
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #write(key: string, value: string, { ttlMs }: WriteOptions): number {
    this.#ends.get(key)?.();
    this.#ends.delete(key);
    const revision = ++this.#revision;
    const entry = { key, value, revision };
    this.#entries.set(key, entry);
    this.#record({ key, entry, revision });
    if (ttlMs !== undefined) {
      const ms = Math.ceil(ttlMs / 1_000) * 1_000 * this.#rate + this.#world.chance.between(0, this.#world.weather.lateEndMs);
      const end = this.#world.after(ms, `store ends ${key}`, () => this.#remove(key));
      this.#ends.set(key, end);
    }
    return revision;
  }

  #remove(key: string): void {
    this.#ends.get(key)?.();
    this.#ends.delete(key);
    this.#entries.delete(key);
    this.#record({ key, entry: undefined, revision: ++this.#revision });
  }

  #record(change: StoreChange): void {
    this.log.push(change);
    const history = this.#histories.get(change.key) ?? [];
    history.push({ change, at: this.#world.now });
    this.#histories.set(change.key, history);
    for (const listener of [...this.#listeners]) listener();
  }
}
