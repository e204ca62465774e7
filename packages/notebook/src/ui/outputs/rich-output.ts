import type { MimeBundle } from '../../kernel/kernel.js';
import { isJsonMimeType } from '../../model/outputs.js';
import { toText } from '../../model/text.js';
import { el } from '../dom.js';
import { cannotShow } from './cannot-show.js';
import { htmlOutput } from './html-output.js';
import { safeImage, svgAddress } from './images.js';
import { renderLatex, renderMarkdown } from './markdown.js';
import { TextOutput } from './text-output.js';

type Renderer = (value: unknown, type: string, bundle: MimeBundle, metadata: MimeBundle) => HTMLElement | undefined;

/** Best first. A renderer that finds nothing to show (a table of scripts alone) leaves it to the next. */
const renderers: readonly (readonly [type: string, name: string, render: Renderer])[] = [
  ['text/html', 'The HTML of this output', (value) => htmlOutput(asText(value))],
  ['image/svg+xml', 'This drawing', (value, type, bundle, metadata) => picture(svgAddress(asText(value)), bundle, metadata[type])],
  ['image/png', 'This image', image],
  ['image/jpeg', 'This image', image],
  ['image/gif', 'This image', image],
  ['image/webp', 'This image', image],
  ['text/markdown', 'This text', (value) => prose(renderMarkdown(asText(value)))],
  ['text/latex', 'This formula', (value) => prose(renderLatex(asText(value)), 'latex-output')],
];

/** The best form of a mime bundle that can be shown. One that cannot be says why, and leaves it to the next. */
export function richOutput(bundle: MimeBundle, metadata: MimeBundle): HTMLElement {
  const faults: HTMLElement[] = [];
  const element = bestForm(bundle, metadata, faults) ?? otherForm(bundle);
  if (faults.length === 0) return element ?? el('div', { class: 'not-loaded' }, `This output cannot be shown here: ${kindsOf(bundle)}`);
  return el('div', {}, ...faults, element);
}

function bestForm(bundle: MimeBundle, metadata: MimeBundle, faults: HTMLElement[]): HTMLElement | undefined {
  for (const [type, name, render] of renderers) {
    if (bundle[type] === undefined) continue;
    try {
      const element = render(bundle[type], type, bundle, metadata);
      if (element) return element;
    } catch (error) {
      faults.push(cannotShow(name, error));
    }
  }
  return undefined;
}

function otherForm(bundle: MimeBundle): HTMLElement | undefined {
  if (bundle['text/plain'] !== undefined) return text(asText(bundle['text/plain']), 'plain-output');
  const json = Object.keys(bundle).find((type) => isJsonMimeType(type));
  return json === undefined ? undefined : text(JSON.stringify(bundle[json], null, 2), 'plain-output');
}

function kindsOf(bundle: MimeBundle): string {
  return Object.keys(bundle).join(', ').slice(0, 300) || 'it is empty';
}

function image(value: unknown, type: string, bundle: MimeBundle, metadata: MimeBundle): HTMLElement {
  return picture(safeImage(`data:${type};base64,${asText(value).replace(/\s/g, '')}`) ?? '', bundle, metadata[type]);
}

function picture(src: string, bundle: MimeBundle, size: unknown): HTMLElement {
  const alt = typeof bundle['text/plain'] === 'string' ? bundle['text/plain'].slice(0, 300) : 'Image made by this cell';
  const element = el('img', { class: 'image-output', src, alt, decoding: 'async' });
  const { width, height } = (size ?? {}) as { width?: unknown; height?: unknown };
  if (typeof width === 'number') element.width = width;
  if (typeof height === 'number') element.height = height;
  element.addEventListener('error', () => element.replaceWith(el('div', { class: 'not-loaded' }, 'This image is damaged.')));
  return element;
}

function prose(body: Promise<HTMLElement>, className = ''): HTMLElement {
  const element = el('div', { class: `prose ${className}`.trim() });
  void body.then((laidOut) => element.append(laidOut));
  return element;
}

function text(value: string, className: string): HTMLElement {
  const output = new TextOutput(className);
  output.show(value);
  return output.element;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? toText(value.map(String)) : JSON.stringify(value, null, 2);
}
