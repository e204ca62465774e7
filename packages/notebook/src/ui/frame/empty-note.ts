import { el } from '../dom.js';
import type { Store } from '../state/store.js';

/** What to do first, where there is nothing yet. */
export function createEmptyNote(store: Store): HTMLElement {
  const note = el(
    'div',
    { class: 'empty-note' },
    el(
      'p',
      {},
      el('strong', {}, 'This notebook is empty.'),
      ' Press ',
      el('kbd', {}, 'Enter'),
      ', or add a cell below, and write some Python; ',
    ),
    el(
      'p',
      {},
      el('kbd', {}, 'Shift'),
      el('kbd', {}, 'Enter'),
      ' runs it. An agent that is connected can write and run cells here while you watch.',
    ),
  );
  store.follow(['reset', 'cell', 'link'], () => {
    note.hidden = store.cells.length > 0 || store.title === '';
  });
  return note;
}
