import { el } from '../dom.js';
import type { Store } from '../state/store.js';

/** What to do first, where there is nothing yet. */
export function createEmptyNote(store: Store): HTMLElement {
  const key = (name: string) => el('kbd', {}, name);
  const empty = el('strong', {}, 'This notebook is empty.');
  const first = el('p', {}, empty, ' Press ', key('Enter'), ', or add a cell below, and write some Python; ');
  const agents = ' runs it. An agent that is connected can write and run cells here while you watch.';
  const note = el('div', { class: 'empty-note' }, first, el('p', {}, key('Shift'), key('Enter'), agents));
  store.follow(['reset', 'cell', 'link'], () => {
    note.hidden = store.cells.length > 0 || store.title === '';
  });
  return note;
}
