import { classHighlighter, highlightCode } from '@lezer/highlight';
import type { Cell } from '../../model/cell.js';
import type { MimeBundle, Output } from '../../model/output.js';
import { toPercentScript } from '../../model/percent-script.js';
import { describeScripted } from '../../outputs/scripted-summary.js';
import { languageOf } from '../cells/languages.js';
import { el } from '../dom.js';
import { pictureOf } from '../outputs/chart-picture.js';
import { expectLate, untilNothingIsLate } from '../outputs/late-parts.js';
import { renderMarkdown } from '../outputs/markdown.js';
import { OutputsView } from '../outputs/outputs-view.js';
import type { Store } from '../state/store.js';
import { visibleNodes } from '../visible.js';

/** Longer sources stand there without colours. */
const maxColoured = 200_000;

/** For what is laid out in threads, for images that the host reads, and for charts that are drawn. */
const lateMs = 120_000;

/** What in a page of ours acts, or loads something: none of it goes along. */
const active = 'script, iframe, object, embed, link, meta, base, button, input, select, textarea, canvas, audio, video';

const baseName = (store: Store) => (store.title || 'notebook').replace(/\.ipynb$/i, '').replace(/[/\\:*?"<>|\p{Cc}]/gu, '_');

export function exportAsScript(store: Store): void {
  const { text, extension } = toPercentScript(store.document.toNotebook());
  download(`${baseName(store)}${extension}`, text, 'text/plain');
}

export async function exportAsHtml(store: Store): Promise<void> {
  download(`${baseName(store)}.html`, await toHtmlPage({ title: store.title || 'Notebook', cells: store.cells }), 'text/html');
}

/** The browser asks where, or puts it into its folder of downloads. */
function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  el('a', { href: url, download: name }).click();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/**
 * The notebook as one static page: sources in colour, text laid out, outputs as this window shows them, sanitised, with the styles in it.
 * No scripts, and a policy in the page that would let none run and load nothing.
 */
async function toHtmlPage({ title, cells }: { title: string; cells: readonly Cell[] }): Promise<string> {
  const main = el('main', {});
  for (const cell of cells) main.append(await cellElement(cell));
  await untilNothingIsLate(lateMs);
  const hasFormulas = main.querySelector('.katex') !== null;
  makePassive(main);
  const styles = [await fetchText('app.css'), ...(hasFormulas ? [await formulaStyles()] : [])].join('\n');
  const policy = "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  const head = [
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    el('title', {}, title).outerHTML,
    `<style>${styles.replaceAll('</', '<\\/')}\n${ownStyles}</style>`,
  ];
  return `<!doctype html>\n<html lang="en">\n<head>\n${head.join('\n')}\n</head>\n<body class="exported">\n${main.outerHTML}\n</body>\n</html>\n`;
}

async function fetchText(name: string): Promise<string> {
  return (await fetch(name)).text();
}

/** With their fonts in them, which are few hundred kilobytes. */
async function formulaStyles(): Promise<string> {
  const css = await fetchText('katex.css');
  const names = [...new Set([...css.matchAll(/url\(([\w-]+\.woff2)\)/g)].map(([, name = '']) => name))];
  const fonts = await Promise.all(names.map(async (name) => [name, await dataAddress(name)] as const));
  return fonts.reduce((text, [name, address]) => text.replaceAll(`url(${name})`, `url(${address})`), css);
}

async function dataAddress(name: string): Promise<string> {
  const bytes = new Uint8Array(await (await fetch(name)).arrayBuffer());
  return `data:font/woff2;base64,${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}`;
}

/** Takes out what acts, and what is hidden or asks for a click; foreign HTML keeps its tree of its own, and its styles in it. */
function makePassive(root: ParentNode): void {
  for (const element of root.querySelectorAll(`${active}, [hidden], .left-out`)) element.remove();
  for (const host of root.querySelectorAll('*')) {
    if (!host.shadowRoot) continue;
    makePassive(host.shadowRoot);
    const template = el('template', { shadowrootmode: 'open' });
    const rules = host.shadowRoot.adoptedStyleSheets.flatMap(({ cssRules }) => [...cssRules].map(({ cssText }) => cssText));
    template.content.append(
      el('style', {}, rules.join('\n').replaceAll('</', '<\\/')),
      ...[...host.shadowRoot.childNodes].map((node) => node.cloneNode(true)),
    );
    host.prepend(template);
  }
}

const ownStyles = `.exported .cell { content-visibility: visible; margin: 0 0 1rem; }
.exported .output-list { max-height: none; mask-image: none; overflow: visible; }
.exported :is(.output, .widget-output) > pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.exported .source pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; }
.exported main { padding-bottom: 4rem; }`;

async function cellElement({ type, source, outputs, attachments, executionCount }: Cell): Promise<HTMLElement> {
  if (type === 'markdown') {
    const prose = el('div', { class: 'prose' }, await renderMarkdown(source, attachments));
    return el('section', { class: 'cell markdown' }, el('div', { class: 'gutter' }), el('div', { class: 'body' }, prose));
  }
  const count = el('span', { class: 'count' }, type === 'code' ? `[${executionCount ?? ' '}]` : '');
  const text = el('div', { class: 'source' }, el('pre', {}, ...(type === 'code' ? coloured(source) : visibleNodes(source))));
  const shown = new OutputsView();
  shown.show(outputs, { follows: false });
  for (const [index, drawn] of [...shown.element.querySelectorAll('.output-list > .output')].entries()) {
    const output = outputs[index];
    if (output) addPicture(drawn, output);
  }
  return el(
    'section',
    { class: `cell ${type}` },
    el('div', { class: 'gutter' }, el('span', { class: 'run-button' }, count)),
    el('div', { class: 'body' }, text, ...(outputs.length > 0 ? [shown.element] : [])),
  );
}

/** What acts in a window is a picture here. Without one, its text stands there. */
function addPicture(drawn: Element, output: Output): void {
  const picture = pictureOf(output);
  if (!picture || !('data' in output)) return;
  const about = describeScripted(output.data as MimeBundle) ?? '';
  const text = () => el('pre', { class: 'plain-output' }, about);
  expectLate(
    picture.then(
      // What is missing in it is said there, too.
      (src) =>
        drawn.replaceChildren(el('img', { class: 'image-output', src, alt: about }), ...drawn.querySelectorAll('.removed:not(.running)')),
      () => drawn.replaceChildren(text()),
    ),
  );
}

function coloured(source: string): (Node | string)[] {
  const support = source.length <= maxColoured ? languageOf('code') : [];
  if (Array.isArray(support)) return visibleNodes(source);
  const nodes: (Node | string)[] = [];
  highlightCode(
    source,
    support.language.parser.parse(source),
    classHighlighter,
    (text, classes) => nodes.push(...(classes === '' ? visibleNodes(text) : [el('span', { class: classes }, ...visibleNodes(text))])),
    () => nodes.push('\n'),
  );
  return nodes;
}
