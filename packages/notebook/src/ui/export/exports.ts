import { toPercentScript } from '../../model/percent-script.js';
import { el } from '../dom.js';
import type { Store } from '../state/store.js';
import { toHtmlPage } from './html-page.js';

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
