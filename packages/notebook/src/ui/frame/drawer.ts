import type { ComponentChild } from 'preact';
import { button, el, hiddenText } from '../dom.js';
import { icon } from '../icons.js';
import { drawPanel } from '../parts.js';
import type { Store, StoreEvent } from '../state/store.js';

export interface DrawerOptions {
  id: string;
  title: string;
  /** What of the store it shows. */
  types: readonly StoreEvent['type'][];
  view: () => ComponentChild;
}

/** A list at the side of the cells. Drawn only while it is open; Escape closes it. */
export class Drawer {
  readonly element: HTMLElement;
  readonly #close: HTMLButtonElement;
  readonly #draw: () => void;
  #onToggle: (isOpen: boolean) => void = () => {};

  constructor(store: Store, { id, title, types, view }: DrawerOptions) {
    const place = el('div', { class: 'drawer-body' });
    this.#close = button({ class: 'bare', onclick: () => this.toggle(false) }, icon('close'), hiddenText(`Close ${title.toLowerCase()}`));
    const head = el('div', { class: 'drawer-head' }, el('h2', {}, title), this.#close);
    this.element = el('aside', { class: 'drawer', id, 'aria-label': title, hidden: true }, head, place);
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      this.toggle(false);
    });
    this.#draw = drawPanel(place, { store, types }, view);
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  onToggle(listener: (isOpen: boolean) => void): void {
    this.#onToggle = listener;
  }

  toggle(isOpen = !this.isOpen): void {
    if (isOpen === this.isOpen) return;
    this.element.hidden = !isOpen;
    if (isOpen) {
      this.#draw();
      this.#close.focus();
    }
    this.#onToggle(isOpen);
  }
}

/** One at a time, since they stand in one place. `opener`: the button that opened it, which gets the keyboard back. */
export function joinDrawers(drawers: readonly { drawer: Drawer; opener: () => HTMLElement | null }[]): void {
  for (const { drawer, opener } of drawers)
    drawer.onToggle((isOpen) => {
      if (isOpen) for (const other of drawers) if (other.drawer !== drawer) other.drawer.toggle(false);
      opener()?.setAttribute('aria-expanded', String(isOpen));
      document.body.classList.toggle(
        'with-drawer',
        drawers.some((each) => each.drawer.isOpen),
      );
      if (!isOpen && !drawers.some((each) => each.drawer.isOpen)) opener()?.focus();
    });
}
