import { startThread } from '../threads.js';
import type { LaidOut } from './parts.js';

export interface MarkdownQuestion {
  readonly id: number;
  readonly kind: 'markdown' | 'latex';
  readonly source: string;
  /** Names the text's parts; it cannot be guessed. */
  readonly key: string;
  /** False: formulas are left as they are written. */
  readonly withFormulas: boolean;
}

/** `ready` with the id 0: the thread has started. `loading`: what comes now is not the text's own time, until `working`. */
export type MarkdownAnswer =
  | ({ readonly id: number } & LaidOut)
  | { readonly id: number; readonly fault: string }
  | { readonly id: number; readonly state: 'ready' | 'loading' | 'working' };

interface Waiting extends Pick<MarkdownQuestion, 'id' | 'kind' | 'source' | 'key'> {
  withFormulas: boolean;
  /** Its formulas are being laid out. */
  isInFormulas: boolean;
  readonly resolve: (laidOut: LaidOut) => void;
  readonly reject: (error: Error) => void;
}

/** For one text of 100,000 characters at most, of which a common one takes a few milliseconds. */
const limitMs = 1000;
/** For the thread's own start, which says nothing of a text. */
const startLimitMs = 20_000;

/** Texts wait for one another, so that each has the thread's whole time, and one that takes too long ends the thread and nothing else. */
const waiting: Waiting[] = [];
let thread: Worker | undefined;
let isReady = false;
let timer: ReturnType<typeof setTimeout> | undefined;
let lastId = 0;

/** HTML that nobody has checked. Rejects for a text on which the grammar works too long or fails. */
export function layOutInThread(kind: MarkdownQuestion['kind'], source: string): Promise<LaidOut> {
  return new Promise((resolve, reject) => {
    waiting.push({ id: ++lastId, kind, source, key: crypto.randomUUID(), withFormulas: true, isInFormulas: false, resolve, reject });
    if (waiting.length === 1) ask();
  });
}

function ask(): void {
  const [first] = waiting;
  if (!first) return;
  try {
    thread ??= createThread();
  } catch (error) {
    return settle(({ reject }) => reject(error as Error));
  }
  if (!isReady) return watch(startLimitMs, 'its thread does not start');
  watchText();
  const { id, kind, source, key, withFormulas } = first;
  thread.postMessage({ id, kind, source, key, withFormulas } satisfies MarkdownQuestion);
}

function watchText(): void {
  watch(limitMs, 'it takes too long to lay out as Markdown');
}

function watch(ms: number, fault: string): void {
  clearTimeout(timer);
  timer = setTimeout(() => fail(fault), ms);
}

function fail(fault: string): void {
  thread?.terminate();
  thread = undefined;
  isReady = false;
  const [first] = waiting;
  // A formula may be to blame; the text is worth reading without it.
  if (first?.isInFormulas) {
    first.isInFormulas = false;
    first.withFormulas = false;
    return ask();
  }
  settle(({ reject }) => reject(new Error(fault)));
}

function settle(end: (first: Waiting) => void): void {
  clearTimeout(timer);
  const first = waiting.shift();
  if (first) end(first);
  ask();
}

function createThread(): Worker {
  const started = startThread('markdown');
  started.addEventListener('message', ({ data }: MessageEvent<MarkdownAnswer>) => {
    if (started !== thread) return;
    if ('state' in data) return proceed(data.state);
    settle(({ resolve, reject }) => ('html' in data ? resolve(data) : reject(new Error(data.fault))));
  });
  started.addEventListener('error', () => started === thread && fail('its thread failed'));
  return started;
}

function proceed(state: 'ready' | 'loading' | 'working'): void {
  const [first] = waiting;
  if (state === 'ready') {
    isReady = true;
    ask();
  } else if (state === 'working') watchText();
  else {
    if (first) first.isInFormulas = true;
    watch(startLimitMs, 'the layout of formulas does not start');
  }
}
