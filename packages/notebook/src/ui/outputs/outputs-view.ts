import type { Output } from '../../model/output.js';
import { button, el, setText } from '../dom.js';
import { type DrawnOutput, putOutput } from './drawn-outputs.js';
import { cellBudget, weightOf } from './output-weight.js';
import { richOutput } from './rich-output.js';

/** Taller outputs are folded; the number is the one of `--fold-height` in `styles/outputs.css`. */
const foldHeightPx = 480;

/** The outputs of one cell. Only those that differ are drawn anew, so that a long run costs what it adds. */
export class OutputsView {
  readonly element: HTMLElement;
  readonly #list = el('div', { class: 'output-list' });
  readonly #more = button({ class: 'quiet show-more', hidden: true, onclick: () => this.#showMore() });
  readonly #fold = button({ class: 'quiet fold', hidden: true, onclick: () => this.#toggle() });
  readonly #sizes = new ResizeObserver(() => this.#measure());
  readonly #shown: DrawnOutput[] = [];
  #outputs: readonly Output[] = [];
  #budget = cellBudget;
  #isOpen = false;

  constructor() {
    const role = { role: 'group', 'aria-label': 'Output' };
    this.element = el('div', { class: 'outputs', hidden: true, ...role }, this.#list, this.#more, this.#fold);
    this.#sizes.observe(this.#list);
  }

  /**
   * Draws until `endMs` (of `performance.now()`), one output at least. False if there is more to draw: then it is called again.
   */
  show(outputs: readonly Output[], { follows, endMs = Infinity }: { follows: boolean; endMs?: number }): boolean {
    if (outputs.length === 0) {
      this.#isOpen = false;
      this.#budget = cellBudget;
    }
    this.#outputs = outputs;
    this.element.hidden = outputs.length === 0;
    const count = this.#countWithin(outputs);
    for (const extra of this.#shown.splice(count)) extra.element.remove();
    this.#showLeft(outputs.length - count);
    for (const [index, output] of outputs.slice(0, count).entries()) {
      if (this.#shown[index]?.output === output) continue;
      putOutput(this.#shown, index, output, { list: this.#list, rich: richOutput });
      if (performance.now() > endMs && index + 1 < count) return false;
    }
    this.#list.style.minHeight = '';
    // While it runs, the newest lines are the ones to see; a fold that is open scrolls with the page.
    if (follows && !this.#isOpen) this.#list.scrollTop = this.#list.scrollHeight;
    return true;
  }

  /** About how many elements are drawn. */
  get weight(): number {
    return this.#shown.reduce((sum, { output }) => sum + weightOf(output), 0);
  }

  /** Drops what is drawn, and keeps its space. `show` draws it again. */
  forget(): void {
    if (this.#shown.length === 0) return;
    this.#list.style.minHeight = `${this.#list.offsetHeight}px`;
    for (const { element } of this.#shown.splice(0)) element.remove();
  }

  /** The first ones that fit into what one cell may weigh; one at least. */
  #countWithin(outputs: readonly Output[]): number {
    let left = this.#budget;
    for (const [index, output] of outputs.entries()) {
      left -= weightOf(output);
      if (left < 0) return Math.max(1, index);
    }
    return outputs.length;
  }

  #showLeft(left: number): void {
    this.#more.hidden = left === 0;
    setText(this.#more, `Show more outputs (${left.toLocaleString('en')} ${left === 1 ? 'is' : 'are'} left)`);
  }

  #showMore(): void {
    this.#budget = this.weight + cellBudget;
    this.show(this.#outputs, { follows: false });
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
