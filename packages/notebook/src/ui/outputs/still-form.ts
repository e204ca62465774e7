import type { MimeBundle } from '../../model/output.js';
import { isJsonMimeType } from '../../model/text.js';
import { el } from '../dom.js';
import { cannotShow } from './cannot-show.js';
import { htmlOutput } from './html-output.js';
import { safeImage, svgAddress } from './images.js';
import { asText } from './mime-text.js';
import { shownText } from './text-output.js';

type Renderer = (value: unknown, type: string, bundle: MimeBundle, metadata: MimeBundle) => HTMLElement | undefined;

/** How a kind of output is shown. A renderer that finds nothing to show (a table of scripts alone) leaves it to the next. */
export type Form = readonly [type: string, name: string, render: Renderer];

const image: Renderer = (value, type, bundle, metadata) =>
  picture(safeImage(`data:${type};base64,${asText(value).replace(/\s/g, '')}`) ?? '', bundle, metadata[type]);

/** HTML and pictures, best first. */
export const pictureForms: readonly Form[] = [
  ['text/html', 'The HTML of this output', (value) => htmlOutput(asText(value))],
  ['image/svg+xml', 'This drawing', (value, type, bundle, metadata) => picture(svgAddress(asText(value)), bundle, metadata[type])],
  ['image/png', 'This image', image],
  ['image/jpeg', 'This image', image],
  ['image/gif', 'This image', image],
  ['image/webp', 'This image', image],
];

/** The first of the forms that can be shown and does not act, or else text or JSON. One that cannot be shown says why, and leaves it to the next. */
export function stillForm(bundle: MimeBundle, metadata: MimeBundle, forms: readonly Form[]): HTMLElement | undefined {
  const faults: HTMLElement[] = [];
  for (const [type, name, render] of [...forms, ...otherForms(bundle)]) {
    if (bundle[type] === undefined) continue;
    try {
      const element = render(bundle[type], type, bundle, metadata);
      if (element) return faults.length === 0 ? element : el('div', {}, ...faults, element);
    } catch (error) {
      faults.push(cannotShow(name, error));
    }
  }
  return faults.length === 0 ? undefined : el('div', {}, ...faults);
}

/** Text as it is. */
export function plainForm(value: unknown): HTMLElement {
  return shownText('plain-output', asText(value));
}

export function jsonForm(value: unknown): HTMLElement {
  return shownText('plain-output', JSON.stringify(value, null, 2));
}

function otherForms(bundle: MimeBundle): Form[] {
  const json = Object.keys(bundle).find((type) => isJsonMimeType(type));
  return [['text/plain', 'This text', plainForm], ...(json === undefined ? [] : [[json, 'This JSON', jsonForm] as const])];
}

function picture(src: string, bundle: MimeBundle, size: unknown): HTMLElement {
  const alt = typeof bundle['text/plain'] === 'string' ? bundle['text/plain'].slice(0, 300) : 'Image made by this cell';
  const element = el('img', { class: 'image-output', src, alt, decoding: 'async' });
  const { width, height } = (size ?? {}) as { width?: unknown; height?: unknown };
  if (isSize(width)) element.width = width;
  if (isSize(height)) element.height = height;
  // With a height alone, the width follows.
  if (isSize(height) && !isSize(width)) element.style.height = `${height}px`;
  element.addEventListener('error', () => element.replaceWith(el('div', { class: 'not-loaded' }, 'This image is damaged.')));
  return element;
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value < 1e6;
}
