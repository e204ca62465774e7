import { wordsOf } from '../cells/question-form.js';
import { el } from '../dom.js';
import { nameOf, verbs } from '../names.js';
import { withoutAnsi } from '../outputs/ansi.js';
import type { Store, StoreEvent } from '../state/store.js';
import { visible } from '../visible.js';

const ends = {
  ok: 'finished',
  error: 'failed',
  interrupted: 'was interrupted',
  cancelled: 'did not run',
  failed: 'could not run',
} as const;
const acts = { stopped: 'stopped the notebook', interrupted: 'interrupted the kernel', restarted: 'restarted the kernel' } as const;

const pauseMs = 400;

/** The element that says to screen readers how runs end, and what agents do. Several things at once are said in one breath. */
export function createAnnouncer(store: Store): HTMLElement {
  const element = el('div', { class: 'visually-hidden', role: 'status', 'aria-live': 'polite' });
  let waiting: string[] = [];
  const say = () => {
    const [last, count] = [waiting.slice(-3), waiting.length];
    waiting = [];
    element.textContent = (count > 3 ? `${count} things happened, the last: ` : '') + last.join(' ');
  };
  store.on((event) => {
    const text = textOf(event, store);
    if (text && waiting.push(text) === 1) setTimeout(say, pauseMs);
  });
  return element;
}

function textOf(event: StoreEvent, store: Store): string | undefined {
  if (event.type === 'finished') {
    const cell = store.document.find(event.run.cellId);
    const error = cell?.outputs.findLast((output) => output.output_type === 'error');
    const what = event.status === 'error' && error ? `: ${withoutAnsi(`${error.ename}: ${error.evalue}`).slice(0, 200)}` : '';
    return `Cell ${store.indexOf(event.run.cellId) + 1} ${ends[event.status]}${what}.`;
  }
  if (event.type === 'question') {
    if (!event.question) return undefined;
    return `Cell ${store.indexOf(event.cellId) + 1} asks: ${visible(wordsOf(event.question).slice(0, 200))}`;
  }
  if (event.type === 'acted') return `${nameOf(event.by)} ${acts[event.what]}.`;
  if (event.type !== 'cell' || event.change.by.kind !== 'agent') return undefined;
  const { op, by } = event.change;
  const place = `cell ${((event.after ?? event.before)?.index ?? 0) + 1}`;
  const isNews = op.type === 'insert' || op.type === 'update' || op.type === 'delete';
  return isNews ? `${nameOf(by)} ${verbs[op.type]} ${place}.` : undefined;
}
