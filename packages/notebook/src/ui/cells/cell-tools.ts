import type { Cell, CellType } from '../../model/cell.js';
import type { Commands } from '../commands.js';
import { button, el } from '../dom.js';
import { type MenuItem, menuButton } from '../frame/menu.js';
import { switchWithLink } from '../frame/switch-with-link.js';
import { icon, iconButton } from '../icons.js';
import type { Store } from '../state/store.js';
import { typeNames } from './cell-view.js';

/** What the tools do. */
type CellActions = Pick<Commands, 'move' | 'remove' | 'clearOutputs' | 'setType'>;

/** The tools of the selected cell, `more` in their menu. One for all cells: the function that is returned moves them to a cell, or takes them away. */
export function createCellTools({ move, remove, clearOutputs, setType }: CellActions, more: () => readonly MenuItem[]) {
  const options = Object.entries(typeNames).map(([type, name]) => el('option', { value: type }, name));
  const type = el('select', { 'aria-label': 'Type of the cell', onchange: () => setType(type.value as CellType) }, ...options);
  const clear = iconButton('clear', 'Clear output', clearOutputs);
  const element = el(
    'div',
    { class: 'cell-tools', role: 'toolbar', 'aria-label': 'Cell' },
    type,
    iconButton('up', 'Move up', () => move(-1)),
    iconButton('down', 'Move down', () => move(1)),
    clear,
    iconButton('remove', 'Delete (D D)', remove),
    menuButton('More for this cell', more),
  );
  return (place: HTMLElement | undefined, cell: Cell | undefined): void => {
    if (cell) type.value = cell.type;
    clear.hidden = !cell?.outputs.length;
    if (!place) element.remove();
    else if (element.parentElement !== place) place.append(element);
  };
}

/** "+ Code + Text": between two cells where the pointer is, and always behind the last one. Nothing is added while there is no host. */
export function createInserter(store: Store, insert: (type: CellType) => void): HTMLElement {
  const inserting = (type: CellType, text: string, label: string) =>
    button({ class: 'insert', 'aria-label': label, onclick: () => insert(type) }, icon('add'), text);
  const buttons = [inserting('code', 'Code', 'Add a code cell here'), inserting('markdown', 'Text', 'Add a text cell here')];
  switchWithLink(buttons, store);
  return el('div', { class: 'inserter', role: 'group', 'aria-label': 'Add a cell' }, ...buttons);
}

/** Moves one inserter into the gap over which the pointer is; the gap stands above its cell. */
export function followGaps(store: Store, cells: HTMLElement, insertBefore: (cellId: string | undefined, type: CellType) => void): void {
  let before: string | undefined;
  const inserter = createInserter(store, (type) => insertBefore(before, type));
  cells.addEventListener('pointerover', ({ target }) => {
    if (!(target instanceof HTMLElement) || !target.classList.contains('gap')) return;
    before = target.parentElement?.dataset.cellId;
    target.append(inserter);
  });
}
