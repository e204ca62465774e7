import type { MimeBundle } from '../../kernel/kernel.js';
import { isJsonMimeType } from '../../model/outputs.js';
import { toText } from '../../model/text.js';
import { el } from '../dom.js';
import { htmlOutput } from './html-output.js';
import { renderMarkdown } from './markdown.js';
import { TextOutput } from './text-output.js';

type Renderer = (value: unknown, type: string, bundle: MimeBundle, metadata: MimeBundle) => HTMLElement | undefined;

/** Best first. A renderer that finds nothing to show (a table of scripts alone) leaves it to the next. */
const renderers: readonly (readonly [string, Renderer])[] = [
  ['text/html', (value) => htmlOutput(asText(value))],
  ['image/svg+xml', svgImage],
  ['image/png', image],
  ['image/jpeg', image],
  ['image/gif', image],
  ['image/webp', image],
  ['text/markdown', (value) => el('div', { class: 'prose' }, renderMarkdown(asText(value)))],
  ['text/latex', (value) => el('div', { class: 'math' }, asText(value))],
];

/** The best form of a mime bundle that can be shown. */
export function richOutput(bundle: MimeBundle, metadata: MimeBundle): HTMLElement {
  for (const [type, render] of renderers) {
    if (bundle[type] === undefined) continue;
    const element = render(bundle[type], type, bundle, metadata);
    if (element) return element;
  }
  if (bundle['text/plain'] !== undefined) return plain(asText(bundle['text/plain']));
  const json = Object.keys(bundle).find((type) => isJsonMimeType(type));
  if (json) return plain(JSON.stringify(bundle[json], null, 2));
  return el('div', { class: 'not-loaded' }, `This output cannot be shown here: ${Object.keys(bundle).join(', ') || 'it is empty'}`);
}

function image(value: unknown, type: string, bundle: MimeBundle, metadata: MimeBundle): HTMLElement {
  return picture(`data:${type};base64,${asText(value).replace(/\s/g, '')}`, bundle, metadata[type]);
}

/** As an image, an SVG runs no scripts and loads nothing, whatever it holds. */
function svgImage(value: unknown, type: string, bundle: MimeBundle, metadata: MimeBundle): HTMLElement {
  return picture(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(asText(value))}`, bundle, metadata[type]);
}

function picture(src: string, bundle: MimeBundle, size: unknown): HTMLElement {
  const alt = typeof bundle['text/plain'] === 'string' ? bundle['text/plain'].slice(0, 300) : 'Image made by this cell';
  const element = el('img', { class: 'image-output', src, alt });
  const { width, height } = (size ?? {}) as { width?: unknown; height?: unknown };
  if (typeof width === 'number') element.width = width;
  if (typeof height === 'number') element.height = height;
  element.addEventListener('error', () => element.replaceWith(el('div', { class: 'not-loaded' }, 'This image is damaged.')));
  return element;
}

function plain(text: string): HTMLElement {
  const output = new TextOutput('plain-output');
  output.show(text);
  return output.element;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? toText(value.map(String)) : JSON.stringify(value, null, 2);
}
