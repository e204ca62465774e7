import type { Drafts, SavedDraft } from './drafts.js';
import type { Store } from './store.js';

/** What stands in a browser's storage: the drafts of one life of the host. */
interface Kept {
  readonly life: string;
  readonly drafts: readonly SavedDraft[];
}

const prefix = 'notebridge-drafts:';

/** Names this tab among those that leave something to the next window. */
const tab = Math.random().toString(36).slice(2);

/**
 * What was typed and is not in the file lives through a reload of the tab, its end, and that of the host. By the notebook's file: a port may
 * be another notebook's by then. A tab that goes leaves it to the next window on that file; while it is there, it keeps a copy of what the
 * host cannot have, in case it crashes.
 */
export function keepDrafts(drafts: Drafts, store: Store, isConnected: () => boolean): void {
  let isCopied = false;
  const save = (storage: Storage, key: string) => {
    const saved = drafts.save();
    if (saved.length > 0) storage.setItem(key, JSON.stringify({ life: store.life, drafts: saved } satisfies Kept));
    else storage.removeItem(key);
    return saved.length > 0;
  };
  drafts.on(() => {
    if (store.life === '' || (isConnected() && drafts.orphans.length === 0 && !isCopied)) return;
    isCopied = save(sessionStorage, keyOf(store));
  });
  addEventListener('pagehide', () => {
    if (store.life === '') return;
    // One in memory is nobody's but this tab's.
    if (store.path === null) return void save(sessionStorage, keyOf(store));
    save(localStorage, keyOf(store) + tab);
    sessionStorage.removeItem(keyOf(store));
  });
  // Back from where browsers keep pages that were left: all of it is still here.
  addEventListener('pageshow', (event) => event.persisted && localStorage.removeItem(keyOf(store) + tab));
  // A last message gets out; a question is only worth it where none can.
  addEventListener('beforeunload', (event) => {
    drafts.sendNow();
    if (drafts.hasClash || (!drafts.isEmpty && !isConnected())) event.preventDefault();
  });
}

/** To be called when the document is there for the first time. */
export function bringBackDrafts(drafts: Drafts, store: Store): void {
  for (const storage of [sessionStorage, localStorage]) {
    for (const key of Object.keys(storage).filter((each) => each.startsWith(keyOf(store)))) {
      const text = storage.getItem(key);
      storage.removeItem(key);
      if (text === null) continue;
      const kept = JSON.parse(text) as Kept;
      drafts.restore(kept.drafts, kept.life === store.life);
    }
  }
}

/** The beginning of the keys of this notebook and of no other: no path has a zero. */
function keyOf({ path, life }: Store): string {
  return `${prefix}${path ?? life}\0`;
}
