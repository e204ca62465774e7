import { appendAll } from '@notebridge/protocol/util/long-lists';
import type { MimeBundle, Output } from '../../model/output.js';
import { MarkupReader } from '../../outputs/markup-tokens.js';
import { pageWithin } from '../../outputs/page-within.js';
import { mayRun, outputHost } from './host-requests.js';
import { rawTags } from './html-names.js';
import { htmlOutput } from './html-output.js';
import { asText } from './mime-text.js';

/** What would act in an output. */
export interface OutputScripts {
  /** The page of the output, scripts included. */
  readonly page: string;
  /** Where the page is instead: a file that code has written. */
  readonly path?: string;
  readonly hasScript: boolean;
  /** It shows nothing by itself: others use what it brings. */
  readonly isLibrary: boolean;
  /** Of a page that fills the height that it is given. */
  readonly heightPx?: number;
}

const known = new WeakMap<MimeBundle, OutputScripts | undefined>();

/** Undefined for an output in which nothing would act. */
export function scriptsOf(bundle: MimeBundle): OutputScripts | undefined {
  if (known.has(bundle)) return known.get(bundle);
  const scripts = look(bundle);
  known.set(bundle, scripts);
  return scripts;
}

/** Pages of earlier outputs that an output may need: libraries, and what its own cell has laid ready for it. */
export function pagesBefore(output: Output): string[] {
  const pages: string[] = [];
  for (const { outputs } of outputHost.cells()) {
    const at = outputs.indexOf(output);
    for (const each of at === -1 ? outputs : outputs.slice(0, at)) {
      if (each.output_type !== 'display_data' && each.output_type !== 'execute_result') continue;
      const scripts = scriptsOf(each.data);
      if (scripts?.isLibrary) pages.push(...(mayRun(each) ? [scripts.page] : []));
      else if (!scripts && at !== -1 && each.data['text/html'] !== undefined) appendAll(pages, placeIn(asText(each.data['text/html'])));
    }
    if (at !== -1) return pages;
  }
  return [];
}

function look(bundle: MimeBundle): OutputScripts | undefined {
  const script = bundle['application/javascript'];
  if (script !== undefined) {
    const isLibrary = bundle['application/vnd.bokehjs_load.v0+json'] !== undefined;
    return { page: pageOfScript(asText(script)), hasScript: true, isLibrary };
  }
  if (bundle['text/html'] === undefined) return undefined;
  const page = asText(bundle['text/html']);
  const within = pageWithin(page);
  if (within?.page !== undefined) return { page: within.page, hasScript: true, isLibrary: false, heightPx: within.heightPx };
  const path = within?.address === undefined ? undefined : pathOfPage(within.address);
  if (within && path !== undefined) return { page: '', path, hasScript: true, isLibrary: false, heightPx: within.heightPx };
  const { hasScript, hasPage, showsSomething } = partsOf(page);
  return hasScript || hasPage ? { page, hasScript, isLibrary: hasScript && !hasPage && !showsSomething } : undefined;
}

/** The path of a page beside the notebook; undefined for an address of the network. */
function pathOfPage(address: string): string | undefined {
  return /^(?:[a-z][\w+.-]+:|\/\/)/i.test(address) || !/\.html?$/i.test(address) ? undefined : address;
}

/** Elements that show nothing, wherever a page is put into another. */
const unseen = new Set(['html', 'head', 'body', 'meta', 'link', 'base']);

function partsOf(page: string): { hasScript: boolean; hasPage: boolean; showsSomething: boolean } {
  const found = { hasScript: false, hasPage: false, showsSomething: false };
  if (!/<(?:script|iframe)/i.test(page)) return found;
  const reader = new MarkupReader(page);
  for (let token = reader.next(); token; token = reader.next()) {
    if (token.kind === 'close') continue;
    const name = token.kind === 'open' ? token.name.toLowerCase() : '';
    if (rawTags.has(name)) reader.rawText(name);
    if (name === 'script') found.hasScript = true;
    else if (name === 'iframe') found.hasPage = true;
    else if (token.kind === 'text') found.showsSomething ||= page.slice(token.from, token.to).trim() !== '';
    // Something in which a chart is to appear is no library, however empty it is.
    else found.showsSomething ||= !rawTags.has(name) && !unseen.has(name);
  }
  return found;
}

/** An empty box, into which a script of a later output draws. */
function placeIn(html: string): string[] {
  return html.length < 10_000 && htmlOutput(html) === undefined ? [html] : [];
}

/** Notebooks give a script the element of its output. */
function pageOfScript(script: string): string {
  const inline = script.replace(/<(?=\/script|!--)/gi, '\\x3c');
  return `<script>(function (element) {\n${inline}\n}).call(globalThis, document.body);</script>`;
}
