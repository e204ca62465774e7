import type { JsonObject } from '@notebridge/kit/json';
import { el } from '../dom.js';
import { toHtmlInThread } from '../markdown/markdown-thread.js';
import { HtmlBounder } from './bound-html.js';
import { cannotShow } from './cannot-show.js';
import { type Piece, showPieces } from './pieces.js';
import { sanitised } from './sanitise.js';
import { TextOutput } from './text-output.js';

/** Characters of source that are laid out at once; a longer text is cut between paragraphs. */
const maxSource = 100_000;

/**
 * Markdown as safe elements, which stand there when they are laid out. Images come from the cell's attachments or from data addresses;
 * others are named, not loaded. What cannot be laid out is shown as it is written. Never rejects.
 */
export async function renderMarkdown(source: string, attachments: JsonObject = {}): Promise<HTMLElement> {
  const holder = el('div', { class: 'prose-body' });
  try {
    showPieces(holder, await sourcePiece(source, 0, attachments));
  } catch (error) {
    const text = new TextOutput('prose-source');
    text.show(source);
    holder.replaceChildren(cannotShow('This text', error), text.element);
  }
  return holder;
}

async function sourcePiece(source: string, from: number, attachments: JsonObject): Promise<Piece> {
  const to = cut(source, from);
  const bounder = new HtmlBounder(await toHtmlInThread(source.slice(from, to).toWellFormed()), { isApart: false });
  const draw = (): Piece => {
    const element = sanitised(bounder.next(), { imageFor: (address) => attachedImage(address, attachments) });
    const next = bounder.hasMore ? draw : to < source.length ? () => sourcePiece(source, to, attachments) : undefined;
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
