import type { Drafts, SavedDraft } from './drafts.js';

const storageKey = 'notebridge-drafts';

/** What was typed but not sent yet lives through a reload of the tab, also while the connection is lost. */
export function keepDrafts(drafts: Drafts, isConnected: () => boolean): void {
  addEventListener('pagehide', () => {
    const saved = drafts.save();
    if (saved.length > 0) sessionStorage.setItem(storageKey, JSON.stringify(saved));
    else sessionStorage.removeItem(storageKey);
  });
  // A last message gets out; a question is only worth it where none can, because a tab that is closed keeps nothing.
  addEventListener('beforeunload', (event) => {
    drafts.sendNow();
    if (drafts.hasClash || (!drafts.isEmpty && !isConnected())) event.preventDefault();
  });
}

/** To be called when the document is there for the first time. */
export function bringBackDrafts(drafts: Drafts): void {
  const saved = sessionStorage.getItem(storageKey);
  sessionStorage.removeItem(storageKey);
  if (saved !== null) drafts.restore(JSON.parse(saved) as SavedDraft[]);
}
