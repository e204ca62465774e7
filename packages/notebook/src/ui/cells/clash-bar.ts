import { button, el } from '../dom.js';
import { nameOf } from '../names.js';
import type { Clash } from '../state/drafts.js';
import { visibleNodes } from '../visible.js';

/** Two people at the same lines: both texts are kept until one is chosen. */
export function clashBar({ theirs, by }: Clash, choose: (keep: 'mine' | 'theirs') => void): HTMLElement {
  const choice = (keep: 'mine' | 'theirs', text: string) => button({ onclick: () => choose(keep) }, text);
  return el(
    'div',
    { class: 'clash', role: 'alert' },
    el('p', {}, `${nameOf(by)} changed the lines that you are typing in. Your text is kept here, and not sent yet.`),
    el('details', {}, el('summary', {}, `See the text of ${nameOf(by)}`), el('pre', {}, ...visibleNodes(theirs))),
    el('div', { class: 'actions' }, choice('mine', 'Keep mine'), choice('theirs', 'Take theirs')),
  );
}
