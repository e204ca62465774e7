import type { MimeBundle, Output } from '../../model/output.js';
import { isJsonMimeType, toText } from '../../model/text.js';
import { el } from '../dom.js';
import { withoutAnsi } from './ansi.js';
import { cannotShow } from './cannot-show.js';
import { htmlOutput } from './html-output.js';
import { safeImage, svgAddress } from './images.js';
import { asText } from './mime-text.js';
import { shownText, TextOutput } from './text-output.js';

/** An output that is drawn. */
export interface DrawnOutput {
  output: Output;
  readonly element: HTMLElement;
  readonly text?: TextOutput;
}

/** Draws an output with a mime bundle. */
export type DrawRich = (output: Extract<Output, { data: MimeBundle }>) => HTMLElement;

/** Draws an output into the list, at this place; a stream that has grown keeps what stands there, and with it a person's selection. */
export function putOutput(
  drawn: DrawnOutput[],
  index: number,
  output: Output,
  { list, rich }: { list: HTMLElement; rich: DrawRich },
): void {
  const before = drawn[index];
  if (before?.text && output.output_type === 'stream' && isSameStream(before.output, output)) {
    before.output = output;
    return before.text.show(toText(output.text));
  }
  const now = draw(output, rich);
  if (before) before.element.replaceWith(now.element);
  else list.append(now.element);
  drawn[index] = now;
}

/** Each output for itself: one that cannot be drawn says so, and takes nothing else with it. */
function draw(output: Output, rich: DrawRich): DrawnOutput {
  try {
    switch (output.output_type) {
      case 'stream':
        return drawText(output, `stream-output stream-${output.name === 'stderr' ? 'stderr' : 'stdout'}`, toText(output.text));
      case 'error':
        return drawText(output, 'error-output', withoutRuler(output.traceback).join('\n') || `${output.ename}: ${output.evalue}`);
      default:
        return { output, element: el('div', { class: 'output' }, rich(output)) };
    }
  } catch (error) {
    return { output, element: el('div', { class: 'output' }, cannotShow('This output', error)) };
  }
}

/** The line of dashes with which IPython begins: the box says it, and a narrow window would break it in three. */
function withoutRuler(traceback: readonly string[]): readonly string[] {
  return /^-{20,}$/.test(withoutAnsi(traceback[0] ?? '')) ? traceback.slice(1) : traceback;
}

function drawText(output: Output, className: string, value: string): DrawnOutput {
  const text = new TextOutput(`output ${className}`);
  text.show(value);
  return { output, element: text.element, text };
}

function isSameStream(before: Output, after: Output): boolean {
  return before.output_type === 'stream' && after.output_type === 'stream' && before.name === after.name;
}

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
