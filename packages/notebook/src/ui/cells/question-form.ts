import type { OpenQuestion } from '../../input-questions.js';
import { button, el } from '../dom.js';
import { nameOf } from '../names.js';
import { visibleNodes } from '../visible.js';

/** Text that was typed so lately is still being typed. */
const typingMs = 1500;

/** What running code asks, with a field for the answer. Enter answers, Escape refuses; both end the form when the host says so. */
export class QuestionForm {
  readonly element: HTMLFormElement;
  readonly #field: HTMLInputElement;
  readonly #question: OpenQuestion;
  /** Where the keyboard was, if it was in another text. */
  #before: HTMLElement | undefined;

  constructor(question: OpenQuestion, answer: (text: string | null) => void) {
    this.#question = question;
    const { prompt, password, run } = question;
    const who = run.by.kind === 'agent' ? `The code that ${nameOf(run.by)} runs asks` : 'The code asks';
    const label = el('span', { class: 'question-prompt' }, ...visibleNodes(prompt.trim() === '' ? `${who}:` : prompt));
    const type = password ? 'password' : 'text';
    this.#field = el('input', { type, class: 'question-field', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off' });
    this.element = el(
      'form',
      { class: 'question', 'aria-label': who },
      el('label', {}, label, this.#field),
      el(
        'div',
        { class: 'actions' },
        el('button', { type: 'submit', class: 'main' }, 'Answer'),
        button({ onclick: () => answer(null) }, 'Refuse'),
      ),
      el('p', { class: 'question-hint' }, 'The cell waits. ', el('kbd', {}, 'Enter'), ' answers, ', el('kbd', {}, 'Esc'), ' refuses.'),
    );
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      answer(this.#field.value);
    });
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      answer(null);
    });
  }

  get id(): number {
    return this.#question.id;
  }

  get hasFocus(): boolean {
    return this.element.contains(document.activeElement);
  }

  /** Takes the keyboard for a person's own run, unless the person writes somewhere: then it waits to be gone to. */
  offer(): void {
    const active = document.activeElement;
    const writes = active instanceof HTMLElement && (active.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(active.tagName));
    const isOwn = writes && this.element.closest('.cell')?.contains(active) === true && performance.now() - lastTypedMs > typingMs;
    // Shift-Enter leads into the next cell, where nobody has begun to write.
    const mayTake = !writes || isOwn || hasOnlyRun;
    if (this.#question.run.by.kind === 'agent' || !mayTake || document.querySelector('dialog[open]')) return;
    this.#before = writes && !isOwn ? active : undefined;
    this.#field.focus();
    this.element.scrollIntoView({ block: 'nearest' });
  }

  /** Gives the keyboard back to the text that it was taken from. False if there is none. */
  giveBack(): boolean {
    if (!this.#before?.isConnected) return false;
    this.#before.focus({ preventScroll: true });
    return true;
  }
}

let lastTypedMs = Number.NEGATIVE_INFINITY;
/** The last thing that the person did was to run something by a key. */
let hasOnlyRun = false;
document.addEventListener(
  'keydown',
  ({ key, ctrlKey, metaKey, shiftKey, altKey, target }) => {
    if (key.length === 1 && !ctrlKey && !metaKey) lastTypedMs = performance.now();
    // One answer may lead to the next question.
    if (/^(?:Shift|Control|Alt|Meta)$/.test(key) || (target instanceof Element && target.closest('.question'))) return;
    hasOnlyRun = key === 'Enter' && (ctrlKey || metaKey || shiftKey || altKey);
  },
  { capture: true },
);
document.addEventListener(
  'pointerdown',
  () => {
    hasOnlyRun = false;
  },
  { capture: true },
);
