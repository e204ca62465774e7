import type { InputQuestion } from '../../kernel/kernel.js';
import type { OpenQuestion } from '../../session/input-questions.js';
import { button, el } from '../dom.js';
import type { AskHost } from '../link/connection.js';
import { nameOf } from '../names.js';
import { visibleNodes } from '../visible.js';

/** Text that was typed so lately is still being typed. */
const typingMs = 1500;

/** What stands in the form of a question, and what becomes of it. */
export interface QuestionBody {
  /** Takes the keyboard. */
  readonly first: HTMLElement;
  readonly nodes: readonly Node[];
  submit(): void;
  /** Escape. */
  refuse(): void;
}

/** What running code, or a server that it calls, asks. Enter answers, Escape refuses; both end the form when the host says so. */
export class QuestionForm {
  readonly element: HTMLFormElement;
  readonly #first: HTMLElement;
  readonly question: OpenQuestion;
  /** Where the keyboard was, if it was in another text. */
  #before: HTMLElement | undefined;

  constructor(question: OpenQuestion, { first, nodes, submit, refuse }: QuestionBody) {
    this.question = question;
    this.#first = first;
    this.element = el('form', { class: 'question', 'aria-label': whoAsks(question) }, ...nodes);
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      submit();
    });
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      refuse();
    });
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
    if (this.question.run.by.kind === 'agent' || !mayTake || document.querySelector('dialog[open]')) return;
    this.#before = writes && !isOwn ? active : undefined;
    this.#first.focus();
    this.element.scrollIntoView({ block: 'nearest' });
  }

  /** Gives the keyboard back to the text that it was taken from. False if there is none. */
  giveBack(): boolean {
    if (!this.#before?.isConnected) return false;
    this.#before.focus({ preventScroll: true });
    return true;
  }
}

/** What is asked, in a sentence. */
export function wordsOf(question: OpenQuestion): string {
  if (!('elicitation' in question)) return question.prompt;
  return `${whoAsks(question)}: ${question.elicitation.message}`;
}

/** Who asks: the code, or a server that it calls. */
function whoAsks(question: OpenQuestion): string {
  const { by } = question.run;
  if ('elicitation' in question) return `The server “${question.elicitation.server}”, which the code calls, asks`;
  return by.kind === 'agent' ? `The code that ${nameOf(by)} runs asks` : 'The code asks';
}

/** A question of `input()`: one field. */
export function inputBody(question: OpenQuestion & InputQuestion, ask: AskHost): QuestionBody {
  const { id, prompt, password } = question;
  const answer = (text: string | null) => void ask({ do: 'answerInput', questionId: id, text });
  const refuse = () => answer(null);
  const label = el('span', { class: 'question-prompt' }, ...visibleNodes(prompt.trim() === '' ? `${whoAsks(question)}:` : prompt));
  const type = password ? 'password' : 'text';
  const field = el('input', { type, class: 'question-field', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off' });
  const send = el('button', { type: 'submit', class: 'main' }, 'Answer');
  const nodes = [
    el('label', {}, label, field),
    el('div', { class: 'actions' }, send, button({ onclick: refuse }, 'Refuse')),
    el('p', { class: 'question-hint' }, 'The cell waits. ', el('kbd', {}, 'Enter'), ' answers, ', el('kbd', {}, 'Esc'), ' refuses.'),
  ];
  return { first: field, nodes, submit: () => answer(field.value), refuse };
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
