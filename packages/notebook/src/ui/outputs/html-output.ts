import { el } from '../dom.js';
import { htmlBaseSheet } from './html-base.js';
import { safeRules } from './safe-css.js';
import { sanitised } from './sanitise.js';

/**
 * Foreign HTML in a shadow tree: its styles do not reach the page, and the page's do not disturb it. Undefined if nothing to see
 * is left of it.
 */
export function htmlOutput(html: string): HTMLElement | undefined {
  const styles: string[] = [];
  const fragment = sanitised(html, { isApart: true, onStyles: (css) => styles.push(css) });
  if (!fragment.querySelector('img, table, hr, svg') && (fragment.textContent ?? '').trim() === '') return undefined;
  const holder = el('div', {});
  const shadow = holder.attachShadow({ mode: 'open' });
  shadow.adoptedStyleSheets = [htmlBaseSheet(), ...styles.map(safeRules)];
  shadow.append(fragment);
  // The outer box is the one that contains: a `:host` rule of the output could undo it on the inner one.
  return el('div', { class: 'html-output', role: 'group', 'aria-label': 'HTML output' }, holder);
}
