import { el } from '../dom.js';
import { HtmlBounder } from './bound-html.js';
import { htmlBaseSheet } from './html-base.js';
import { type Piece, showPieces } from './pieces.js';
import { sanitised } from './sanitise.js';

/**
 * Foreign HTML in shadow trees: its styles do not reach the page, and the page's do not disturb it. Undefined if nothing to see
 * is left of it.
 */
export function htmlOutput(html: string): HTMLElement | undefined {
  const bounder = new HtmlBounder(html, { isApart: true });
  const first = drawNext(bounder);
  if (!first.next && !first.isVisible) return undefined;
  // The outer box is the one that contains: no style of the output reaches it.
  const className = first.hasTable ? 'html-output with-table' : 'html-output';
  const box = el('div', { class: className, role: 'group', 'aria-label': 'HTML output' });
  showPieces(box, first);
  return box;
}

/** A tree for each piece; the rules of the whole output hold in all that come behind them. */
function drawNext(bounder: HtmlBounder): Piece & { isVisible: boolean; hasTable: boolean } {
  const piece = bounder.next();
  const fragment = sanitised(piece, { isApart: true });
  const isVisible = fragment.querySelector('img, table, hr') !== null || (fragment.textContent ?? '').trim() !== '';
  const hasTable = fragment.querySelector('table') !== null;
  const element = el('div', {});
  const shadow = element.attachShadow({ mode: 'open' });
  shadow.adoptedStyleSheets = [htmlBaseSheet(), ...piece.sheets.map(toSheet)];
  shadow.append(fragment);
  return { element, isVisible, hasTable, progress: bounder.progress, next: bounder.hasMore ? () => drawNext(bounder) : undefined };
}

/** Made by the object model, so no nonce is needed. */
function toSheet(css: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}
