import { el } from '../dom.js';

const pauseMs = 400;

/** Says to screen readers what can be seen otherwise. Several things at once are said in one breath. */
export class Announcer {
  readonly element = el('div', { class: 'visually-hidden', role: 'status', 'aria-live': 'polite' });
  #waiting: string[] = [];

  say(text: string): void {
    this.#waiting.push(text);
    if (this.#waiting.length > 1) return;
    setTimeout(() => {
      const [last, count] = [this.#waiting.slice(-3), this.#waiting.length];
      this.#waiting = [];
      this.element.textContent = (count > 3 ? `${count} things happened, the last: ` : '') + last.join(' ');
    }, pauseMs);
  }
}
