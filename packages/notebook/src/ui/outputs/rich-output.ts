import type { MimeBundle, Output } from '../../model/output.js';
import { widgetIdOf } from '../../model/outputs.js';
import { isJsonMimeType } from '../../model/text.js';
import { chartOf } from '../../outputs/chart-bundle.js';
import { el } from '../dom.js';
import { cannotShow } from './cannot-show.js';
import { chartOutput } from './chart-output.js';
import { htmlOutput } from './html-output.js';
import { safeImage, svgAddress } from './images.js';
import { expectLate } from './late-parts.js';
import { renderLatex, renderMarkdown } from './markdown.js';
import { asText } from './mime-text.js';
import { scriptsOf } from './output-scripts.js';
import { scriptedOutput } from './scripted-output.js';
import { TextOutput } from './text-output.js';
import { widgetOutput } from './widget-output.js';

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
  // Its plain text says no more than that it is JSON.
  ['application/json', 'This JSON', (value) => text(JSON.stringify(value, null, 2), 'plain-output')],
];

/** An output with a mime bundle. */
export function richOutput(output: Extract<Output, { data: MimeBundle }>): HTMLElement {
  const { data = {}, metadata = {} } = output;
  const chart = chartOf(data);
  if (chart) return chartOutput(output, chart);
  const scripts = scriptsOf(data);
  const still = () => stillForm(data, metadata);
  const modelId = widgetIdOf(data);
  if (modelId !== undefined) return widgetOutput(modelId, () => still() ?? el('div'));
  if (scripts) return scriptedOutput(output, scripts, still);
  // An empty box is for a script of another output to draw into.
  return still() ?? (data['text/html'] === undefined ? noForm(data) : el('div'));
}

/** The best form of a mime bundle that can be shown and does not act. One that cannot be shown says why, and leaves it to the next. */
function stillForm(bundle: MimeBundle, metadata: MimeBundle): HTMLElement | undefined {
  const faults: HTMLElement[] = [];
  const element = bestForm(bundle, metadata, faults) ?? otherForm(bundle);
  return faults.length === 0 ? element : el('div', {}, ...faults, element);
}

function noForm(bundle: MimeBundle): HTMLElement {
  return el('div', { class: 'not-loaded' }, `This output cannot be shown here: ${kindsOf(bundle)}`);
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

function prose(body: Promise<HTMLElement>, className = ''): HTMLElement {
  const element = el('div', { class: `prose ${className}`.trim() });
  expectLate(body.then((laidOut) => element.append(laidOut)));
  return element;
}

function text(value: string, className: string): HTMLElement {
  const output = new TextOutput(className);
  output.show(value);
  return output.element;
}
