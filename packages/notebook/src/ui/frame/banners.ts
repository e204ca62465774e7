import { button, el } from '../dom.js';
import { icon } from '../icons.js';
import { visible } from '../visible.js';

export interface Banner {
  readonly kind: 'info' | 'warning' | 'error';
  readonly text: string;
  /** What others say in it was made visible already. Default false. */
  readonly isVisible?: boolean;
  readonly actions?: readonly { readonly text: string; readonly act: () => void; readonly isMain?: boolean }[];
  /** A person can put it away. */
  readonly closes?: boolean;
}

/** Notes between the bar and the cells; one per key, so that a state shows once. */
export class Banners {
  readonly element = el('div', { class: 'banners' });
  readonly #shown = new Map<string, { banner: Banner; element: HTMLElement }>();

  set(key: string, banner: Banner | undefined): void {
    const before = this.#shown.get(key);
    if (!banner) {
      before?.element.remove();
      this.#shown.delete(key);
      return;
    }
    // The same text is not said again, and buttons under a person's finger stay.
    if (before && before.banner.text === banner.text && before.banner.actions?.length === banner.actions?.length) return;
    const element = this.#draw(key, banner);
    if (before) before.element.replaceWith(element);
    else this.element.append(element);
    this.#shown.set(key, { banner, element });
  }

  #draw(key: string, { kind, text, isVisible = false, actions = [], closes = false }: Banner): HTMLElement {
    const buttons = actions.map(({ text: name, act, isMain }) => button({ class: isMain ? 'main' : undefined, onclick: act }, name));
    const close = button({ class: 'bare', 'aria-label': 'Dismiss', onclick: () => this.set(key, undefined) }, icon('close'));
    return el(
      'div',
      { class: `banner ${kind}`, role: kind === 'info' ? 'status' : 'alert' },
      el('p', {}, isVisible ? text : visible(text)),
      el('div', { class: 'actions' }, ...buttons, ...(closes ? [close] : [])),
    );
  }
}
