import type { Output } from '../../kernel/kernel.js';
import { toText } from '../../model/text.js';
import { el, setText } from '../dom.js';
import { richOutput } from './rich-output.js';
import { TextOutput } from './text-output.js';

interface Shown {
  output: Output;
  element: HTMLElement;
  text?: TextOutput;
}

/** Taller outputs are folded; the number is the one of `--fold-height` in `styles/outputs.css`. */
const foldHeightPx = 480;

/** The outputs of one cell. Only those that differ are drawn anew, so that a long run costs what it adds. */
export class OutputsView {
  readonly element: HTMLElement;
  readonly #list = el('div', { class: 'output-list' });
  readonly #fold = el('button', { type: 'button', class: 'quiet fold', hidden: true, onclick: () => this.#toggle() });
  readonly #sizes = new ResizeObserver(() => this.#measure());
  #shown: Shown[] = [];
  #isOpen = false;

  constructor() {
    this.element = el('div', { class: 'outputs', hidden: true, role: 'group', 'aria-label': 'Output' }, this.#list, this.#fold);
    this.#sizes.observe(this.#list);
  }

  show(outputs: readonly Output[], { follows }: { follows: boolean }): void {
    if (outputs.length === 0) this.#isOpen = false;
    this.element.hidden = outputs.length === 0;
    for (const extra of this.#shown.splice(outputs.length)) extra.element.remove();
    for (const [index, output] of outputs.entries()) this.#put(index, output);
    // While it runs, the newest lines are the ones to see; a fold that is open scrolls with the page.
    if (follows && !this.#isOpen) this.#list.scrollTop = this.#list.scrollHeight;
  }

  #put(index: number, output: Output): void {
    const before = this.#shown[index];
    if (before?.output === output) return;
    if (before?.text && output.output_type === 'stream' && isSameStream(before.output, output)) {
      before.output = output;
      return before.text.show(toText(output.text));
    }
    const shown = draw(output);
    if (before) before.element.replaceWith(shown.element);
    else this.#list.append(shown.element);
    this.#shown[index] = shown;
  }

  #measure(): void {
    const isTall = this.#list.scrollHeight > foldHeightPx + 40;
    this.#list.classList.toggle('folded', isTall && !this.#isOpen);
    this.#fold.hidden = !isTall;
    setText(this.#fold, this.#isOpen ? 'Show less' : 'Show all');
    this.#fold.setAttribute('aria-expanded', String(this.#isOpen));
  }

  #toggle(): void {
    this.#isOpen = !this.#isOpen;
    this.#measure();
    if (!this.#isOpen) this.element.scrollIntoView({ block: 'nearest' });
  }
}

function draw(output: Output): Shown {
  switch (output.output_type) {
    case 'stream':
      return drawText(output, `output stream-output stream-${output.name === 'stderr' ? 'stderr' : 'stdout'}`, toText(output.text));
    case 'error':
      return drawText(output, 'output error-output', output.traceback.join('\n') || `${output.ename}: ${output.evalue}`);
    default:
      return { output, element: el('div', { class: 'output' }, richOutput(output.data ?? {}, output.metadata ?? {})) };
  }
}

function drawText(output: Output, className: string, value: string): Shown {
  const text = new TextOutput(className);
  text.show(value);
  return { output, element: text.element, text };
}

function isSameStream(before: Output, after: Output): boolean {
  return before.output_type === 'stream' && after.output_type === 'stream' && before.name === after.name;
}
