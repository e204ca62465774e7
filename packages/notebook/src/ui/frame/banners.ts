import { copyText } from '../copy-text.js';
import { button, el } from '../dom.js';
import { iconButton } from '../icons.js';
import { visible } from '../visible.js';

export interface Banner {
  readonly kind: 'info' | 'warning' | 'error';
  readonly text: string;
  /** What others say in it was made visible already. Default false. */
  readonly isVisible?: boolean;
  /** What the person types in a terminal. */
  readonly command?: string | undefined;
  /** The cell that it is about. */
  readonly cellId?: string | undefined;
  readonly actions?: readonly { readonly text: string; readonly act: () => void; readonly isMain?: boolean }[];
  /** A person can put it away; called then, if it is a function. */
  readonly closes?: boolean | (() => void);
}

/** The two answers of a question, the first of which is the main one. */
export function yesOrNo(yes: string, no: string, answer: (isYes: boolean) => void): NonNullable<Banner['actions']> {
  return [
    { text: yes, act: () => answer(true), isMain: true },
    { text: no, act: () => answer(false) },
  ];
}

const ranks = { error: 0, warning: 1, info: 2 } as const;

/**
 * Notes between the bar and the cells: one per key, and one at a time, so that they never push the cells out of the window. The worst is shown
 * first, of two the older one; the others are a press away.
 */
export class Banners {
  readonly element = el('div', { class: 'banners' });
  readonly #goTo: (cellId: string) => void;
  readonly #banners = new Map<string, Banner>();
  /** The one that the person has turned to. */
  #chosen: string | undefined;
  #shown: { key: string; banner: Banner; element: HTMLElement } | undefined;

  constructor(goTo: (cellId: string) => void) {
    this.#goTo = goTo;
  }

  has(key: string): boolean {
    return this.#banners.has(key);
  }

  set(key: string, banner: Banner | undefined): void {
    if (banner) this.#banners.set(key, banner);
    else this.#banners.delete(key);
    this.#show();
  }

  #show(): void {
    const keys = this.#inOrder();
    const key = keys.find((each) => each === this.#chosen) ?? keys[0];
    const banner = this.#banners.get(key ?? '');
    if (key === undefined || !banner) {
      this.element.replaceChildren();
      this.#shown = undefined;
      return;
    }
    // The same text is not said again, and buttons under a person's finger stay.
    const isSame = this.#shown?.key === key && looksOf(this.#shown.banner) === looksOf(banner);
    const element = isSame && this.#shown ? this.#shown.element : this.#draw(key, banner);
    this.#shown = { key, banner, element };
    if (!isSame) this.element.replaceChildren(element);
    element.querySelector('.next-banner')?.remove();
    if (keys.length > 1) element.querySelector('.actions')?.append(this.#nextButton(keys, key));
  }

  /** What is said of the connection stands before all: nothing else can be done without it. */
  #inOrder(): string[] {
    const rankOf = ([key, { kind }]: [string, Banner]) => (key === 'link' ? -1 : ranks[kind]);
    return [...this.#banners].sort((a, b) => rankOf(a) - rankOf(b)).map(([key]) => key);
  }

  #nextButton(keys: readonly string[], key: string): HTMLElement {
    const at = keys.indexOf(key);
    const turn = () => {
      this.#chosen = keys[(at + 1) % keys.length];
      this.#show();
      this.element.querySelector<HTMLElement>('.next-banner')?.focus();
    };
    return button({ class: 'next-banner bare', title: 'Show the next message', onclick: turn }, `${at + 1} of ${keys.length} ›`);
  }

  #draw(key: string, { kind, text, isVisible = false, command, cellId, actions = [], closes = false }: Banner): HTMLElement {
    // What a button does is what the newest banner of the key means by it.
    const act = (at: number) => this.#banners.get(key)?.actions?.[at]?.act();
    const buttons = actions.map(({ text: name, isMain }, at) =>
      button({ class: isMain ? 'main' : undefined, onclick: () => act(at) }, name),
    );
    if (cellId !== undefined) buttons.unshift(button({ onclick: () => this.#goTo(cellId) }, 'Go to the cell'));
    if (command !== undefined) buttons.unshift(button({ onclick: () => void copyText(command) }, 'Copy the command'));
    const close = () => {
      const { closes: closed } = this.#banners.get(key) ?? {};
      this.set(key, undefined);
      if (typeof closed === 'function') closed();
    };
    if (closes) buttons.push(iconButton('close', 'Dismiss', close));
    return el(
      'div',
      { class: `banner ${kind}`, role: kind === 'info' ? 'status' : 'alert' },
      el(
        'p',
        {},
        isVisible ? text : visible(text),
        command === undefined ? undefined : el('code', { class: 'banner-command' }, visible(command)),
      ),
      el('div', { class: 'actions' }, ...buttons),
    );
  }
}

function looksOf({ kind, text, command, cellId, actions = [] }: Banner): string {
  return JSON.stringify([kind, text, command, cellId, actions.map((action) => action.text)]);
}
