import type { Logger } from '@notebridge/protocol/util/logger';
import type { SharedStore, StoredEntry } from '@notebridge/system/files/shared-store';
import { TextSigner } from './text-signer.js';

/**
 * A store whose entries nobody can make who only has access to it: each bears a code of its key and value, under a key that the hubs have. An
 * entry without the right one does not exist here. Who may write there can still remove entries, and put an earlier one of ours back.
 */
export function createSignedStore(store: SharedStore, { key, name, logger }: { key: Buffer; name: string; logger: Logger }): SharedStore {
  const signer = new TextSigner(key, `store ${name}`);
  const told = new Set<string>();
  const open = (entry: StoredEntry | undefined): StoredEntry | undefined => {
    if (entry === undefined) return undefined;
    const value = signer.open(entry.key, entry.value);
    if (value !== undefined) return { ...entry, value };
    // Once for each, and not for ever more.
    if (!told.has(entry.key) && told.size < 100) {
      told.add(entry.key);
      logger.warn(
        'An entry of the cluster was written with another key than this hub has, and is left out. If a hub of yours wrote it, give all hubs the same file of the key.',
        { entry: entry.key },
      );
    }
    return undefined;
  };
  return {
    get: async (at) => open(await store.get(at)),
    list: async (prefix) => (await store.list(prefix)).flatMap((entry) => open(entry) ?? []),
    create: (at, value, options) => store.create(at, signer.sign(at, value), options),
    update: (at, value, revision, options) => store.update(at, signer.sign(at, value), revision, options),
    remove: (at, revision) => store.remove(at, revision),
    watch: (prefix, listener) => store.watch(prefix, (change) => listener({ ...change, entry: open(change.entry) })),
  };
}
