export interface MarkdownQuestion {
  readonly id: number;
  readonly source: string;
}

/** The one with the id 0 says that the thread is ready. */
export type MarkdownAnswer = { readonly id: number; readonly html: string } | { readonly id: number; readonly fault: string };

interface Waiting extends MarkdownQuestion {
  readonly resolve: (html: string) => void;
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
export function toHtmlInThread(source: string): Promise<string> {
  return new Promise((resolve, reject) => {
    waiting.push({ id: ++lastId, source, resolve, reject });
    if (waiting.length === 1) ask();
  });
}

function ask(): void {
  const [first] = waiting;
  if (!first) return;
  try {
    thread ??= startThread();
  } catch (error) {
    return settle(({ reject }) => reject(error as Error));
  }
  if (!isReady) return watch(startLimitMs, 'its thread does not start');
  watch(limitMs, 'it takes too long to lay out as Markdown');
  thread.postMessage({ id: first.id, source: first.source } satisfies MarkdownQuestion);
}

function watch(ms: number, fault: string): void {
  clearTimeout(timer);
  timer = setTimeout(() => fail(fault), ms);
}

function fail(fault: string): void {
  thread?.terminate();
  thread = undefined;
  isReady = false;
  settle(({ reject }) => reject(new Error(fault)));
}

function settle(end: (first: Waiting) => void): void {
  clearTimeout(timer);
  const first = waiting.shift();
  if (first) end(first);
  ask();
}

function startThread(): Worker {
  const started = new Worker(threadUrl() as string, { type: 'module', name: 'markdown' });
  started.addEventListener('message', ({ data }: MessageEvent<MarkdownAnswer>) => {
    if (started !== thread) return;
    if (data.id === 0) {
      isReady = true;
      return ask();
    }
    settle(({ resolve, reject }) => ('html' in data ? resolve(data.html) : reject(new Error(data.fault))));
  });
  started.addEventListener('error', () => started === thread && fail('its thread failed'));
  return started;
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL(url: string): unknown };
}

/** The page's policy lets one address become a thread, by a policy that knows no other (`trusted-types notebridge-thread`). */
function threadUrl(): unknown {
  const url = new URL('markdown.js', document.baseURI).href;
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy('notebridge-thread', { createScriptURL: () => url });
  return policy ? policy.createScriptURL(url) : url;
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined;
