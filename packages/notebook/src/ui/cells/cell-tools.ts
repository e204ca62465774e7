import type { Cell, CellType } from '../../model/cell.js';
import { button, el } from '../dom.js';
import { type MenuItem, menuButton } from '../frame/menu.js';
import { type IconName, icon } from '../icons.js';
import type { Store } from '../state/store.js';
import { typeNames } from './cell-view.js';

export interface CellToolsOptions {
  move: (by: -1 | 1) => void;
  remove: () => void;
  clearOutputs: () => void;
  setType: (type: CellType) => void;
  /** What else can be done with it. */
  more: () => readonly MenuItem[];
}

/** The tools of the selected cell. One for all cells: it moves to the one that is selected. */
export class CellTools {
  readonly element: HTMLElement;
  readonly #type: HTMLSelectElement;
  readonly #clear: HTMLButtonElement;

  constructor({ move, remove, clearOutputs, setType, more }: CellToolsOptions) {
    const options = Object.entries(typeNames).map(([type, name]) => el('option', { value: type }, name));
    this.#type = el('select', { 'aria-label': 'Type of the cell', onchange: () => setType(this.#type.value as CellType) }, ...options);
    this.#clear = toolButton('clear', 'Clear output', clearOutputs);
    this.element = el(
      'div',
      { class: 'cell-tools', role: 'toolbar', 'aria-label': 'Cell' },
      this.#type,
      toolButton('up', 'Move up', () => move(-1)),
      toolButton('down', 'Move down', () => move(1)),
      this.#clear,
      toolButton('remove', 'Delete (D D)', remove),
      menuButton({ class: 'bare', label: 'More for this cell' }, [icon('more')], more),
    );
  }

  /** Puts the tools into a cell, or takes them away. */
  showIn(place: HTMLElement | undefined, cell: Cell | undefined): void {
    if (cell) this.#type.value = cell.type;
    this.#clear.hidden = !cell?.outputs.length;
    if (!place) this.element.remove();
    else if (this.element.parentElement !== place) place.append(this.element);
  }
}

function toolButton(name: IconName, label: string, act: () => void): HTMLButtonElement {
  return button({ class: 'bare', title: label, 'aria-label': label, onclick: act }, icon(name));
}

/** "+ Code + Text": between two cells where the pointer is, and always behind the last one. */
export function createInserter(insert: (type: CellType) => void): HTMLElement {
  const inserting = (type: CellType, text: string, label: string) =>
    button({ class: 'insert', 'aria-label': label, onclick: () => insert(type) }, icon('add'), text);
  return el(
    'div',
    { class: 'inserter', role: 'group', 'aria-label': 'Add a cell' },
    inserting('code', 'Code', 'Add a code cell here'),
    inserting('markdown', 'Text', 'Add a text cell here'),
  );
}

/** Moves one inserter, which it returns, into the gap over which the pointer is; the gap stands above its cell. */
export function followGaps(cells: HTMLElement, insertBefore: (cellId: string | undefined, type: CellType) => void): HTMLElement {
  let before: string | undefined;
  const inserter = createInserter((type) => insertBefore(before, type));
  cells.addEventListener('pointerover', ({ target }) => {
    if (!(target instanceof HTMLElement) || !target.classList.contains('gap')) return;
    before = target.parentElement?.dataset.cellId;
    target.append(inserter);
  });
  return inserter;
}

/** Nothing is added while there is no host. */
export function switchWithLink(inserter: HTMLElement, store: Store): void {
  store.follow(['link'], () => {
    for (const each of inserter.querySelectorAll('button')) {
      each.disabled = store.offReason !== undefined;
      each.title = store.offReason ?? '';
    }
  });
}
