import type { JsonObject } from '@notebridge/protocol/json';
import { el } from '../dom.js';
import { layOutInThread } from '../markdown/markdown-thread.js';
import type { LaidOut, Part } from '../markdown/parts.js';
import { HtmlBounder } from './bound-html.js';
import { cannotShow } from './cannot-show.js';
import { formulaElement } from './formula.js';
import { type Piece, showPieces } from './pieces.js';
import { sanitised } from './sanitise.js';
import { shownText } from './text-output.js';

/** Characters of source that are laid out at once; a longer text is cut between paragraphs. */
const maxSource = 100_000;

/**
 * Markdown as safe elements, which stand there when they are laid out. Images come from the cell's attachments or from data addresses;
 * others are named, not loaded. What cannot be laid out is shown as it is written. Never rejects.
 */
export function renderMarkdown(source: string, attachments?: JsonObject): Promise<HTMLElement> {
  return render({ kind: 'markdown', source, ...(attachments && { attachments }) });
}

/** An output in LaTeX: formulas, and text between them. Never rejects. */
export function renderLatex(source: string): Promise<HTMLElement> {
  return render({ kind: 'latex', source });
}

interface Text {
  readonly kind: 'markdown' | 'latex';
  readonly source: string;
  readonly attachments?: JsonObject;
}

async function render(text: Text): Promise<HTMLElement> {
  const holder = el('div', { class: 'prose-body' });
  try {
    showPieces(holder, await sourcePiece(text, 0));
  } catch (error) {
    holder.replaceChildren(cannotShow('This text', error), shownText('prose-source', text.source));
  }
  return holder;
}

async function sourcePiece(text: Text, from: number): Promise<Piece> {
  const { kind, source, attachments = {} } = text;
  const to = cut(source, from);
  const laidOut = await layOutInThread(kind, source.slice(from, to).toWellFormed());
  await formulaStyles(laidOut);
  const parts = new Parts(laidOut);
  const bounder = new HtmlBounder(laidOut.html, { isApart: false, costOfPart: (mark) => parts.costOf(mark) });
  const draw = (): Piece => {
    const element = sanitised(bounder.next(), { imageFor: (address) => attachedImage(address, attachments) });
    parts.fill(element);
    const next = bounder.hasMore ? draw : to < source.length ? () => sourcePiece(text, to) : undefined;
    return { element, next, progress: (from + (to - from) * bounder.progress) / Math.max(1, source.length) };
  };
  return draw();
}

function cut(source: string, from: number): number {
  const end = from + maxSource;
  if (end >= source.length) return source.length;
  for (const mark of ['\n\n', '\n', ' ']) {
    const at = source.lastIndexOf(mark, end);
    if (at > from + maxSource / 2) return at + mark.length;
  }
  return end;
}

function attachedImage(address: string, attachments: JsonObject): string | undefined {
  if (!address.startsWith('attachment:')) return undefined;
  const name = address.slice('attachment:'.length);
  const bundle = (attachments[name] ?? attachments[decodeURIComponent(name)]) as { [type: string]: unknown } | undefined;
  const [type, value] = Object.entries(bundle ?? {}).find(([mime]) => mime.startsWith('image/')) ?? [];
  const data = Array.isArray(value) ? value.join('') : value;
  if (!type || typeof data !== 'string') return undefined;
  return type === 'image/svg+xml' ? `data:${type};charset=utf-8,${encodeURIComponent(data.toWellFormed())}` : `data:${type};base64,${data}`;
}

let styles: Promise<void> | undefined;

/** Resolves when what formulas look like is there, or cannot be had: then they are readable, and no more. */
function formulaStyles({ parts }: LaidOut): Promise<void> | undefined {
  if (!parts.some((part) => part.kind === 'formula' && part.html !== undefined)) return undefined;
  styles ??= new Promise((resolve) => {
    const link = el('link', { rel: 'stylesheet', href: 'katex.css', onload: () => resolve(), onerror: () => resolve() });
    document.head.append(link);
  });
  return styles;
}

/** The parts of a text, each to be used once. */
class Parts {
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
