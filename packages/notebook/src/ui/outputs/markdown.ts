import type { JsonObject } from '@notebridge/kit/json';
import { el } from '../dom.js';
import { layOutInThread } from '../markdown/markdown-thread.js';
import { HtmlBounder } from './bound-html.js';
import { cannotShow } from './cannot-show.js';
import { formulaStyles, Parts } from './fill-parts.js';
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
