import type { Drafts, SavedDraft } from './drafts.js';
import type { Store } from './store.js';

/** What stands in a browser's storage: the drafts of one life of the host. */
interface Kept {
  readonly life: string;
  readonly drafts: readonly SavedDraft[];
}

const prefix = 'notebridge-drafts:';

/**
 * What was typed and is not in the file lives through a reload of the tab, its end, and that of the host. By the notebook's file: a port may
 * be another notebook's by then. A tab that goes leaves it to the next window on that file; while it is there, it keeps a copy in case it crashes.
 */
export function keepDrafts(drafts: Drafts, store: Store, isConnected: () => boolean): void {
  const save = (storage: Storage) => {
    const saved = drafts.save();
    if (saved.length > 0) storage.setItem(keyOf(store), JSON.stringify({ life: store.life, drafts: saved } satisfies Kept));
    else storage.removeItem(keyOf(store));
  };
  drafts.on(() => {
    if (!isConnected() && store.life !== '') save(sessionStorage);
  });
  addEventListener('pagehide', () => {
    if (store.life === '') return;
    // One in memory is nobody's but this tab's.
    save(store.path === null ? sessionStorage : localStorage);
    if (store.path !== null) sessionStorage.removeItem(keyOf(store));
  });
  // Back from where browsers keep pages that were left: all of it is still here.
  addEventListener('pageshow', (event) => event.persisted && localStorage.removeItem(keyOf(store)));
  // A last message gets out; a question is only worth it where none can.
  addEventListener('beforeunload', (event) => {
    drafts.sendNow();
    if (drafts.hasClash || (!drafts.isEmpty && !isConnected())) event.preventDefault();
  });
}

/** To be called when the document is there for the first time. */
export function bringBackDrafts(drafts: Drafts, store: Store): void {
  for (const storage of [sessionStorage, localStorage]) {
    const text = storage.getItem(keyOf(store));
    storage.removeItem(keyOf(store));
    if (text === null) continue;
    const kept = JSON.parse(text) as Kept;
    drafts.restore(kept.drafts, kept.life === store.life);
  }
}

function keyOf({ path, life }: Store): string {
  return prefix + (path ?? life);
}
