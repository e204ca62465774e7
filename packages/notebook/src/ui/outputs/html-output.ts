import { el } from '../dom.js';
import { HtmlBounder } from './bound-html.js';
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
  shadow.adoptedStyleSheets = [baseSheet, ...piece.sheets.map(toSheet)];
  shadow.append(fragment);
  return { element, isVisible, hasTable, progress: bounder.progress, next: bounder.hasMore ? () => drawNext(bounder) : undefined };
}

/** Made by the object model, so no nonce is needed. */
function toSheet(css: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}

/** How tables and text of outputs look where they say nothing of it. The variables come from the page, so themes follow. */
const baseSheet = toSheet(`
    :host { display: block; }
    * { max-width: none; }
    table { border-collapse: collapse; font-size: 0.8125rem; line-height: 1.45; font-variant-numeric: tabular-nums; margin: 0; border: 0; }
    th, td { padding: 0.3rem 0.75rem; text-align: right; vertical-align: top; border: 0; }
    thead th { font-weight: 600; box-shadow: inset 0 -1px var(--line-strong); white-space: nowrap; }
    thead { position: sticky; top: 0; z-index: 1; background: var(--ground); }
    tbody tr + tr > * { border-top: 1px solid var(--line); }
    tbody tr:hover > * { background-color: var(--well); }
    tbody th { font-weight: 500; color: var(--ink-soft); }
    caption { caption-side: top; text-align: left; padding: 0.25rem 0.75rem; color: var(--ink-soft); }
    a { color: var(--accent-ink); }
    img { max-width: 100%; height: auto; }
    pre, code { font-family: var(--mono); font-size: 0.8125rem; }
    pre { overflow-x: auto; margin: 0.25rem 0; }
    p { margin: 0.35rem 0; }
    .not-loaded { color: var(--ink-soft); font-style: italic; }
  `);
