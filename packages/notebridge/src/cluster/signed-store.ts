import type { Logger } from '@notebridge/kit/logger';
import type { SharedStore, StoreChange, StoredEntry, StoreWatch, WriteOptions } from '../state/shared-store.js';
import { TextSigner } from './text-signer.js';

/**
 * A store whose entries nobody can make who only has access to it: each bears a code of its key and value, under a key that the hubs have. An
 * entry without the right one does not exist here. Who may write there can still remove entries, and put an earlier one of ours back.
 */
export class SignedStore implements SharedStore {
  readonly #store: SharedStore;
  readonly #signer: TextSigner;
  readonly #logger: Logger;
  readonly #told = new Set<string>();

  constructor(store: SharedStore, { key, name, logger }: { key: Buffer; name: string; logger: Logger }) {
    this.#store = store;
    this.#signer = new TextSigner(key, `store ${name}`);
    this.#logger = logger;
  }

  async get(key: string): Promise<StoredEntry | undefined> {
    return this.#open(await this.#store.get(key));
  }

  async list(prefix: string): Promise<StoredEntry[]> {
    const entries = await this.#store.list(prefix);
    return entries.flatMap((entry) => this.#open(entry) ?? []);
  }

  create(key: string, value: string, options?: WriteOptions): Promise<number> {
    return this.#store.create(key, this.#signer.sign(key, value), options);
  }

  update(key: string, value: string, revision: number, options?: WriteOptions): Promise<number> {
    return this.#store.update(key, this.#signer.sign(key, value), revision, options);
  }

  remove(key: string, revision: number): Promise<void> {
    return this.#store.remove(key, revision);
  }

  watch(prefix: string, listener: (change: StoreChange) => void): Promise<StoreWatch> {
    return this.#store.watch(prefix, (change) => listener({ ...change, entry: this.#open(change.entry) }));
  }

  #open(entry: StoredEntry | undefined): StoredEntry | undefined {
    if (entry === undefined) return undefined;
    const value = this.#signer.open(entry.key, entry.value);
    if (value !== undefined) return { ...entry, value };
    this.#tell(entry.key);
    return undefined;
  }

  /** Once for each, and not for ever more. */
  #tell(key: string): void {
    if (this.#told.has(key) || this.#told.size >= 100) return;
    this.#told.add(key);
    this.#logger.warn(
      'An entry of the cluster was written with another key than this hub has, and is left out. If a hub of yours wrote it, give all hubs the same file of the key.',
      { entry: key },
    );
  }
}
