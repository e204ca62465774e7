import { wordsOf } from '../cells/question-form.js';
import { nameOf, verbs } from '../names.js';
import { withoutAnsi } from '../outputs/ansi.js';
import type { Store, StoreEvent } from '../state/store.js';
import { visible } from '../visible.js';
import type { Announcer } from './announcer.js';

const ends = {
  ok: 'finished',
  error: 'failed',
  interrupted: 'was interrupted',
  cancelled: 'did not run',
  failed: 'could not run',
} as const;
const acts = { stopped: 'stopped the notebook', interrupted: 'interrupted the kernel', restarted: 'restarted the kernel' } as const;

/** Announces to screen readers how runs end, and what agents do. */
export function announceEvents(store: Store, announcer: Announcer): void {
  store.on((event) => {
    const text = textOf(event, store);
    if (text) announcer.say(text);
  });
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
