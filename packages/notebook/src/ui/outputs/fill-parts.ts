import { el } from '../dom.js';
import type { LaidOut, Part } from '../markdown/parts.js';
import { formulaElement } from './formula.js';

let styles: Promise<void> | undefined;

/** Resolves when what formulas look like is there, or cannot be had: then they are readable, and no more. */
export function formulaStyles({ parts }: LaidOut): Promise<void> | undefined {
  if (!parts.some((part) => part.kind === 'formula' && part.html !== undefined)) return undefined;
  styles ??= new Promise((resolve) => {
    const link = el('link', { rel: 'stylesheet', href: 'katex.css', onload: () => resolve(), onerror: () => resolve() });
    document.head.append(link);
  });
  return styles;
}

/** The parts of a text, each to be used once. */
export class Parts {
  readonly #parts: (Part | undefined)[];
  readonly #key: string;

  constructor({ parts, key }: LaidOut) {
    this.#parts = [...parts];
    this.#key = key;
  }

  /** About how many elements it makes. `mark` is what `nb-part` says. */
  costOf(mark: string): number {
    const part = this.#parts[this.#indexOf(mark)];
    if (part?.kind !== 'formula') return 3;
    return (part.html?.split('<').length ?? 0) / 2 + part.formula.raw.length / 20;
  }

  /** Puts the parts where their marks are. */
  fill(fragment: DocumentFragment): void {
    for (const mark of fragment.querySelectorAll<HTMLElement>('[nb-part]')) {
      const index = this.#indexOf(mark.getAttribute('nb-part') ?? '');
      mark.removeAttribute('nb-part');
      const part = this.#parts[index];
      this.#parts[index] = undefined;
      if (part) mark.replaceChildren(part.kind === 'task' ? taskBox(mark, part) : formulaBox(mark, part));
    }
  }

  /** Markup of the text's own names no part. */
  #indexOf(mark: string): number {
    return mark.startsWith(`${this.#key}-`) ? Number(mark.slice(this.#key.length + 1)) : -1;
  }
}

function taskBox(mark: HTMLElement, { isDone, label }: Extract<Part, { kind: 'task' }>): HTMLElement {
  mark.closest('li')?.classList.add('task');
  const box = el('input', { type: 'checkbox', class: 'task-box', disabled: true, 'aria-label': label });
  box.checked = isDone;
  return box;
}

function formulaBox(mark: HTMLElement, { html, formula, fault }: Extract<Part, { kind: 'formula' }>): HTMLElement {
  mark.className = formula.isBlock ? 'formula block-formula' : 'formula';
  if (html !== undefined) return formulaElement(html);
  return el('span', { class: 'formula-source', ...(fault === undefined ? {} : { title: `Not laid out: ${fault}` }) }, formula.raw);
}
