import { messageOf } from '@notebridge/kit/message-of';
import { button, el, setText } from '../dom.js';
import { icon } from '../icons.js';
import type { Finder } from '../state/finder.js';
import { maxFound } from '../state/finder.js';
import type { Store } from '../state/store.js';

/** Find and replace, over the cells. Enter goes on, Shift-Enter back, Escape closes. */
export class FindBar {
  readonly element: HTMLElement;
  readonly #finder: Finder;
  readonly #text = el('input', { type: 'text', class: 'find-text', 'aria-label': 'Find', placeholder: 'Find', spellcheck: 'false' });
  readonly #by = el('input', {
    type: 'text',
    class: 'find-text',
    'aria-label': 'Replace by',
    placeholder: 'Replace by',
    spellcheck: 'false',
  });
  readonly #count = el('span', { class: 'find-count', role: 'status' });
  readonly #caseButton = toggle('Aa', 'Upper and lower case differ', () => this.#look());
  readonly #patternButton = toggle('.*', 'Regular expression', () => this.#look());
  readonly #onClose: () => void;

  constructor(finder: Finder, store: Store, onClose: () => void) {
    this.#finder = finder;
    this.#onClose = onClose;
    const step = (by: -1 | 1, name: 'up' | 'down', label: string) =>
      button({ class: 'bare', title: label, 'aria-label': label, onclick: () => void this.#step(by) }, icon(name));
    const close = button({ class: 'bare', title: 'Close (Esc)', 'aria-label': 'Close', onclick: () => this.close() }, icon('close'));
    this.element = el(
      'div',
      { class: 'find-bar', role: 'search', 'aria-label': 'Find in the notebook', hidden: true },
      el(
        'div',
        { class: 'find-row' },
        this.#text,
        this.#caseButton,
        this.#patternButton,
        step(-1, 'up', 'Previous (Shift+Enter)'),
        step(1, 'down', 'Next (Enter)'),
        close,
      ),
      el(
        'div',
        { class: 'find-row' },
        this.#by,
        button({ onclick: () => void this.#replace() }, 'Replace'),
        button({ onclick: () => void this.#replaceAll() }, 'All'),
        this.#count,
      ),
    );
    this.#text.addEventListener('input', () => this.#look());
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    store.on(({ type }) => {
      if (this.element.hidden || (type !== 'cell' && type !== 'reset')) return;
      finder.count();
    });
    finder.onCount(() => this.#showCount());
  }

  /** `text`: what is looked for at first, as a selection in a cell gives it. */
  open(text = ''): void {
    this.element.hidden = false;
    if (text !== '') this.#text.value = text;
    this.#text.focus();
    this.#text.select();
    this.#look();
  }

  close(): void {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.#finder.look({ text: '', isCaseSensitive: false, isPattern: false });
    this.#onClose();
  }

  #look(): void {
    const isOn = (each: HTMLElement) => each.getAttribute('aria-pressed') === 'true';
    this.#finder.look({ text: this.#text.value, isCaseSensitive: isOn(this.#caseButton), isPattern: isOn(this.#patternButton) });
  }

  async #step(by: -1 | 1): Promise<void> {
    await this.#finder.step(by);
    this.#showCount();
  }

  async #replace(): Promise<void> {
    await this.#finder.replace(this.#by.value).then(
      () => this.#showCount(),
      (error: unknown) => setText(this.#count, messageOf(error)),
    );
  }

  async #replaceAll(): Promise<void> {
    try {
      const { places, cells } = await this.#finder.replaceAll(this.#by.value);
      setText(
        this.#count,
        cells === 0 ? 'Nothing to replace' : `Replaced ${places} in ${cells} ${cells === 1 ? 'cell' : 'cells'} (Z takes it back)`,
      );
    } catch (error) {
      setText(this.#count, messageOf(error));
    }
  }

  #showCount(): void {
    const { found, at, fault } = this.#finder;
    const total = found.length >= maxFound ? `${maxFound.toLocaleString('en')} or more` : String(found.length);
    const text =
      this.#text.value === '' ? '' : found.length === 0 ? 'Nothing found' : at === -1 ? `${total} found` : `${at + 1} of ${total}`;
    setText(this.#count, fault?.text ?? text);
    this.#count.title = fault?.detail ?? '';
    this.#text.setAttribute('aria-invalid', String(fault !== undefined));
  }

  #onKey(event: KeyboardEvent): void {
    event.stopPropagation();
    const isField = event.target instanceof HTMLInputElement;
    if (event.key === 'Escape') this.close();
    else if (event.key === 'Enter' && event.target === this.#by) void this.#replace();
    else if (event.key === 'Enter' && isField) void this.#step(event.shiftKey ? -1 : 1);
    else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f') this.#text.select();
    else return;
    event.preventDefault();
  }
}

function toggle(text: string, label: string, onChange: () => void): HTMLButtonElement {
  const each = button(
    {
      class: 'bare find-toggle',
      'aria-pressed': 'false',
      title: label,
      'aria-label': label,
      onclick: () => {
        each.setAttribute('aria-pressed', String(each.getAttribute('aria-pressed') !== 'true'));
        onChange();
      },
    },
    text,
  );
  return each;
}
