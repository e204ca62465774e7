import { settle } from '../../model/stream-text.js';
import { button, el } from '../dom.js';
import { AnsiWriter } from './ansi.js';

/** Longer texts show their beginning and end until a person asks for more: a million characters in a page make it crawl. */
const firstMaxShown = 60_000;
/** How much more each time. */
const step = 8;

/** Text with colours, that may grow while it is shown. */
export class TextOutput {
  readonly element: HTMLElement;
  readonly #body = el('pre', { class: 'text-output' });
  #writer = new AnsiWriter();
  #shown: string | undefined;
  #maxShown = firstMaxShown;

  constructor(className: string) {
    this.element = el('div', { class: className }, this.#body);
  }

  /** Files of others may hold what a program has written over. */
  show(given: string): void {
    const text = settle(given);
    const before = this.#shown;
    this.#shown = text;
    if (text.length > this.#maxShown) return this.#showEnds(text);
    // A stream mostly grows at its end: what stands there already stays, and with it a person's selection.
    if (before !== undefined && before.length <= this.#maxShown && text.startsWith(before))
      return this.#writer.write(this.#body, text.slice(before.length));
    this.#restart();
    this.#writer.write(this.#body, text);
  }

  #showEnds(text: string): void {
    const end = this.#maxShown / 3;
    const [head, tail] = [lineEndBefore(text, end), lineEndBefore(text, text.length - end)];
    const left = text.slice(head, tail).split('\n').length - 1;
    this.#restart();
    this.#writer.write(this.#body, text.slice(0, head));
    const showAll = button(
      { class: 'quiet', onclick: () => this.#expand() },
      left > 0 ? `Show ${left.toLocaleString('en')} more lines` : `Show ${(tail - head).toLocaleString('en')} more characters`,
    );
    this.#body.append(el('span', { class: 'left-out' }, showAll));
    this.#writer.write(this.#body, text.slice(tail));
  }

  #expand(): void {
    this.#maxShown *= step;
    const text = this.#shown ?? '';
    this.#shown = undefined;
    this.show(text);
  }

  #restart(): void {
    this.#body.replaceChildren();
    this.#writer = new AnsiWriter();
  }
}

/** A text that does not grow any more. */
export function shownText(className: string, text: string): HTMLElement {
  const output = new TextOutput(className);
  output.show(text);
  return output.element;
}

/** Cuts between lines, and never within a pair of surrogates. */
function lineEndBefore(text: string, index: number): number {
  const at = text.lastIndexOf('\n', index);
  return at > index - 5000 ? at + 1 : index;
}
