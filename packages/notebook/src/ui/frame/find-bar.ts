import { messageOf } from '@notebridge/protocol/util/message-of';
import { button, el, setText } from '../dom.js';
import { iconButton } from '../icons.js';
import type { Finder } from '../state/finder.js';
import { maxFound } from '../state/finder.js';
import type { Store } from '../state/store.js';

export interface FindBar {
  readonly element: HTMLElement;
  /** `text`: what is looked for at first, as a selection in a cell gives it. */
  open(text?: string): void;
}

/** Find and replace, over the cells. Enter goes on, Shift-Enter back, Escape closes. */
export function createFindBar(finder: Finder, store: Store, onClose: () => void): FindBar {
  const text = field('Find');
  const by = field('Replace by');
  const count = el('span', { class: 'find-count', role: 'status' });
  const look = () => finder.look({ text: text.value, isCaseSensitive: isOn(caseButton), isPattern: isOn(patternButton) });
  const caseButton = toggleButton('Aa', 'Upper and lower case differ', look);
  const patternButton = toggleButton('.*', 'Regular expression', look);

  const showCount = () => {
    const { found, at, fault } = finder;
    const total = found.length >= maxFound ? `${maxFound.toLocaleString('en')} or more` : String(found.length);
    const place = found.length === 0 ? 'Nothing found' : at === -1 ? `${total} found` : `${at + 1} of ${total}`;
    setText(count, fault?.text ?? (text.value === '' ? '' : place));
    count.title = fault?.detail ?? '';
    text.setAttribute('aria-invalid', String(fault !== undefined));
  };
  const complain = (error: unknown) => setText(count, messageOf(error));
  const step = (direction: -1 | 1) => void finder.step(direction).then(showCount);
  const replace = () => void finder.replace(by.value).then(showCount, complain);
  const replaceAll = () =>
    void finder.replaceAll(by.value).then(({ places, cells }) => {
      const done = `Replaced ${places} in ${cells} ${cells === 1 ? 'cell' : 'cells'} (Z takes it back)`;
      setText(count, cells === 0 ? 'Nothing to replace' : done);
    }, complain);
  const close = () => {
    element.hidden = true;
    finder.look({ text: '', isCaseSensitive: false, isPattern: false });
    onClose();
  };
  const onKey = (event: KeyboardEvent) => {
    event.stopPropagation();
    const isField = event.target instanceof HTMLInputElement;
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && event.target === by) replace();
    else if (event.key === 'Enter' && isField) step(event.shiftKey ? -1 : 1);
    else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f') text.select();
    else return;
    event.preventDefault();
  };

  const steps = [
    iconButton('up', 'Previous (Shift+Enter)', () => step(-1)),
    iconButton('down', 'Next (Enter)', () => step(1)),
    iconButton('close', 'Close', close, 'Close (Esc)'),
  ];
  const element = el(
    'div',
    { class: 'find-bar', role: 'search', 'aria-label': 'Find in the notebook', hidden: true, onkeydown: onKey },
    el('div', { class: 'find-row' }, text, caseButton, patternButton, ...steps),
    el('div', { class: 'find-row' }, by, button({ onclick: replace }, 'Replace'), button({ onclick: replaceAll }, 'All'), count),
  );
  text.addEventListener('input', look);
  store.on(({ type }) => {
    if (!element.hidden && (type === 'cell' || type === 'reset')) finder.count();
  });
  finder.onCount(showCount);

  const open = (wanted = '') => {
    element.hidden = false;
    if (wanted !== '') text.value = wanted;
    text.focus();
    text.select();
    look();
  };
  return { element, open };
}

function field(name: string): HTMLInputElement {
  return el('input', { type: 'text', class: 'find-text', 'aria-label': name, placeholder: name, spellcheck: 'false' });
}

function toggleButton(text: string, label: string, onChange: () => void): HTMLButtonElement {
  const onclick = () => {
    each.setAttribute('aria-pressed', String(!isOn(each)));
    onChange();
  };
  const each = button({ class: 'bare find-toggle', 'aria-pressed': 'false', title: label, 'aria-label': label, onclick }, text);
  return each;
}

function isOn(toggle: HTMLElement): boolean {
  return toggle.getAttribute('aria-pressed') === 'true';
}
