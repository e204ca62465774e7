import { button, el } from '../dom.js';
import { iconButton } from '../icons.js';

/** Asks before something that cannot be taken back. */
export function confirm(question: string, { yes, detail }: { yes: string; detail: string }): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const answer = (isYes: boolean) => {
    resolve(isYes);
    dialog.close();
  };
  const cancel = button({ onclick: () => answer(false) }, 'Cancel');
  const accept = button({ class: 'main', autofocus: true, onclick: () => answer(true) }, yes);
  const names = { role: 'alertdialog', 'aria-labelledby': 'dialog-title', 'aria-describedby': 'dialog-detail' };
  const [head, text] = [el('h2', { id: 'dialog-title' }, question), el('p', { id: 'dialog-detail' }, detail)];
  const dialog = el('dialog', { class: 'dialog', ...names }, head, text, el('div', { class: 'actions' }, cancel, accept));
  openDialog(dialog, () => resolve(false));
  return promise;
}

const sections: { readonly [name: string]: { readonly [keys: string]: string } } = {
  Always: {
    'Shift Enter': 'Run, go to the next cell',
    'Ctrl Enter': 'Run, stay',
    'Alt Enter': 'Run, add a cell below',
    'Ctrl S': 'Save',
    'Ctrl F': 'Find and replace',
    'Ctrl Shift −': 'Split the cell at the cursor',
  },
  'In a cell': {
    Esc: 'Leave it: keys act on cells',
    Tab: 'Complete, or indent',
    'Shift Tab': 'Documentation; again: all of it, go into it',
    'Ctrl Z': 'Undo typing',
  },
  'In the menu ⋯': {
    'Run above': 'All cells before this one',
    'Run below': 'This one and all after it',
    'Restart, run all': 'From the first cell on',
    Outline: 'The headings; a click goes there',
    'New or open': 'Notebooks of this folder',
    Export: 'As .py, or as one HTML file',
  },
  'On cells': {
    Enter: 'Edit',
    '↑ K · ↓ J': 'Go up, down',
    'Shift ↑ ↓': 'Select several',
    'Ctrl A': 'Select all',
    'A · B': 'Add a cell above, below',
    'M · Y · R': 'Make it text, code, raw',
    'X · C · V': 'Cut, copy, paste below',
    'Shift V': 'Paste above',
    'D D': 'Delete',
    Z: 'Take back the last step on cells, yours or an agent’s',
    'Shift M': 'Merge the selected, or with the one below',
    'Ctrl Shift ↑↓': 'Move up, down',
    'L · Shift L': 'Line numbers: here, everywhere',
    'I I': 'Interrupt the kernel',
    '0 0': 'Restart the kernel',
    '?': 'This help',
  },
};

/** Names of the menu are no keys. */
const withoutKeys = 'In the menu ⋯';

export function showHelp(): void {
  const groups = Object.entries(sections).map(([name, keys]) => {
    const rows = Object.entries(keys).map(([key, what]) =>
      el('div', {}, el('dt', {}, ...(name === withoutKeys ? [key] : keyCaps(key))), el('dd', {}, what)),
    );
    return el('section', {}, el('h3', {}, name), el('dl', {}, ...rows));
  });
  openPanel({ name: 'help', title: 'Keyboard' }, el('div', { class: 'key-groups' }, ...groups));
}

function keyCaps(keys: string): (Node | string)[] {
  return keys.split(' ').map((key) => (key === '·' ? ' · ' : el('kbd', {}, key)));
}

export interface PanelOptions {
  /** Its class. */
  name: string;
  title: string;
  /** Called when it has closed. Default: nothing. */
  onClose?: () => void;
}

/** A dialog with a title, and a button that closes it. */
export function openPanel({ name, title, onClose = () => {} }: PanelOptions, ...content: readonly HTMLElement[]): HTMLDialogElement {
  const id = `${name}-title`;
  const close = iconButton('close', 'Close', () => dialog.close());
  const head = el('div', { class: 'dialog-head' }, el('h2', { id }, title), close);
  const dialog = el('dialog', { class: `dialog ${name}`, 'aria-labelledby': id }, head, ...content);
  openDialog(dialog, onClose);
  return dialog;
}

/** The browser keeps the keyboard inside and gives it back afterwards. */
function openDialog(dialog: HTMLDialogElement, onClose: () => void): void {
  dialog.addEventListener('close', () => {
    dialog.remove();
    onClose();
  });
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}
