/** An entry as it was at some moment. */
export interface StoredEntry {
  key: string;
  value: string;
  /** Rises with each write to the store: of two entries of one key the higher is the newer. */
  revision: number;
}

/** What has become of a key. `entry` undefined: it was removed, or its time has run out. */
export interface StoreChange {
  key: string;
  entry: StoredEntry | undefined;
  revision: number;
}

export interface WriteOptions {
  /** The entry is gone so many milliseconds after this write. Rounded up to whole seconds. Default: it stays. */
  ttlMs?: number | undefined;
}

/**
 * A small store that the hubs of a cluster share. **Reads may be old** (another replica answers than the one that took the last write), and
 * so may be what a watch says, which may also say it twice. Decisions are therefore made by `create`, `update` and `remove` alone, each of
 * which compares the revision and writes in one step.
 *
 * Keys: parts of `A-Z a-z 0-9 - _ =`, joined by `.`. Values: text, below half a megabyte. Others reject with a `TypeError`. Whatever is asked rejects with
 * `StoreUnavailable` if no answer came; a write may have been made all the same.
 */
export interface SharedStore {
  /** May be old. Undefined: there was none. */
  get(key: string): Promise<StoredEntry | undefined>;
  /** All entries whose key begins with this prefix, which ends with a `.` or is empty. May be old. */
  list(prefix: string): Promise<StoredEntry[]>;
  /** Writes an entry that is not there, or not any more. Resolves to its revision; rejects with `StoreConflict` if there is one. */
  create(key: string, value: string, options?: WriteOptions): Promise<number>;
  /** Writes over the entry of this revision. Resolves to the new one; rejects with `StoreConflict` if it is another by now, or gone. */
  update(key: string, value: string, revision: number, options?: WriteOptions): Promise<number>;
  /** Removes the entry of this revision. Rejects with `StoreConflict` if it is another by now, or gone. */
  remove(key: string, revision: number): Promise<void>;
  /**
   * Tells what there is below the prefix, then what changes, until the watch is closed. Resolves when all that there was has been told.
   * It goes on over a lost connection. What was written before is told before, but a change may be told twice, and one that was written over
   * meanwhile not at all.
   */
  watch(prefix: string, listener: (change: StoreChange) => void): Promise<StoreWatch>;
}

export interface StoreWatch {
  /** Closing twice is harmless. */
  close(): void;
}

/** The entry was another than the one that was to be written over: nothing was written. */
export class StoreConflict extends Error {
  readonly key: string;

  constructor(key: string) {
    super(`Another hub has written "${key}" since it was read.`);
    this.name = 'StoreConflict';
    this.key = key;
  }
}

/** No answer came. Whether a write was made is unknown. */
export class StoreUnavailable extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, { cause });
    this.name = 'StoreUnavailable';
  }
}

/** An entry is smaller. */
const maxStoredBytes = 500_000;

/** Throws a `TypeError`, which is a fault of ours, for a key that no store takes. */
export function assertStoreKey(key: string): void {
  if (!/^[A-Za-z0-9_=-]+(\.[A-Za-z0-9_=-]+)*$/.test(key)) {
    throw new TypeError(`${JSON.stringify(key)} is no key of the shared store.`);
  }
}

/** As a key, but empty or with a `.` at its end. */
export function assertStorePrefix(prefix: string): void {
  if (prefix === '') return;
  if (!prefix.endsWith('.')) throw new TypeError(`${JSON.stringify(prefix)} is no prefix of keys: it has to end with ".".`);
  assertStoreKey(prefix.slice(0, -1));
}

export function assertStoreValue(value: string): void {
  const bytes = Buffer.byteLength(value);
  if (bytes >= maxStoredBytes) throw new TypeError(`An entry of the shared store is below ${maxStoredBytes} bytes, and this has ${bytes}.`);
}
