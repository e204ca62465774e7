import { type ComponentChild, render } from 'preact';
import { el } from '../dom.js';
import { iconButton } from '../icons.js';
import type { Store, StoreEvent } from '../state/store.js';

export interface DrawerOptions {
  id: string;
  title: string;
  /** What of the store it shows. */
  types: readonly StoreEvent['type'][];
  view: () => ComponentChild;
  /** The button that opens it, which gets the keyboard back. */
  opener: () => HTMLElement | null;
}

export interface Drawer {
  readonly element: HTMLElement;
  toggle(isOpen?: boolean): void;
}

let closeOpen: (() => void) | undefined;

/**
 * A list at the side of the cells; one at a time, since they stand in one place. Escape closes it. Drawn only while it is open, once per frame; keys
 * and scrolling stay where they are, since only what differs is changed.
 */
export function createDrawer(store: Store, { id, title, types, view, opener }: DrawerOptions): Drawer {
  const body = el('div', { class: 'drawer-body' });
  const close = () => toggle(false);
  const closeButton = iconButton('close', `Close ${title.toLowerCase()}`, close);
  const head = el('div', { class: 'drawer-head' }, el('h2', {}, title), closeButton);
  const element = el('aside', { class: 'drawer', id, 'aria-label': title, hidden: true }, head, body);
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  });
  let isAsked = false;
  const draw = () => {
    isAsked = false;
    render(view(), body);
  };
  store.on(({ type }) => {
    if (!types.includes(type) || isAsked || element.hidden) return;
    isAsked = true;
    requestAnimationFrame(draw);
  });

  const toggle = (isOpen = element.hidden): void => {
    if (isOpen !== element.hidden) return;
    const other = isOpen ? closeOpen : undefined;
    if (isOpen) closeOpen = close;
    else if (closeOpen === close) closeOpen = undefined;
    other?.();
    element.hidden = !isOpen;
    opener()?.setAttribute('aria-expanded', String(isOpen));
    document.body.classList.toggle('with-drawer', closeOpen !== undefined);
    if (isOpen) {
      draw();
      closeButton.focus();
    } else if (closeOpen === undefined) opener()?.focus();
  };
  return { element, toggle };
}
