/** For one question. A common one takes a few milliseconds. */
const limitMs = 1000;
/** For the thread's own start, and for what it loads: neither says anything of a question. */
const startLimitMs = 20_000;

/** What a thread says besides its answers. `ready`: it has started. `loading`: what comes now is not the question's own time, until `working`. */
export type ThreadState = 'ready' | 'loading' | 'working';

export interface ThreadOptions<Question> {
  /** The file of the window that runs in the thread. */
  name: 'markdown' | 'find';
  /** Why a question got no answer, for a person. */
  faults: { readonly start: string; readonly work: string; readonly end: string };
  /** What is asked instead when the thread fails with what it has loaded for the question. Default: nothing. */
  withoutLoading?: (question: Question) => Question;
}

type Asked<Question, Answer> = { question: Question } & PromiseWithResolvers<Answer>;

/**
 * Asks a thread. Questions wait for one another, so that each has the thread's whole time, and one that takes too long ends the thread and nothing
 * else. The answers are no strings.
 */
export function threadQueue<Question, Answer extends object>({ name, faults, withoutLoading }: ThreadOptions<Question>) {
  const waiting: Asked<Question, Answer>[] = [];
  let thread: Worker | undefined;
  let isReady = false;
  let hasLoaded = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const watch = (ms: number, fault: string) => {
    clearTimeout(timer);
    timer = setTimeout(() => fail(fault), ms);
  };
  const settle = (end: (first: Asked<Question, Answer>) => void) => {
    clearTimeout(timer);
    const first = waiting.shift();
    if (first) end(first);
    ask();
  };
  const fail = (fault: string) => {
    thread?.terminate();
    [thread, isReady] = [undefined, false];
    const [first] = waiting;
    if (!first || !hasLoaded || !withoutLoading) return settle(({ reject }) => reject(new Error(fault)));
    first.question = withoutLoading(first.question);
    ask();
  };
  const receive = (said: ThreadState | Answer) => {
    if (typeof said === 'object') return settle(({ resolve }) => resolve(said));
    if (said === 'working') return watch(limitMs, faults.work);
    if (said === 'ready') {
      isReady = true;
      return ask();
    }
    hasLoaded = true;
    watch(startLimitMs, faults.start);
  };
  const start = () => {
    const started = startThread(name);
    started.addEventListener('message', ({ data }: MessageEvent<ThreadState | Answer>) => started === thread && receive(data));
    started.addEventListener('error', () => started === thread && fail(faults.end));
    return started;
  };
  const ask = () => {
    const [first] = waiting;
    if (!first) return;
    hasLoaded = false;
    try {
      thread ??= start();
    } catch (error) {
      return settle(({ reject }) => reject(error as Error));
    }
    if (!isReady) return watch(startLimitMs, faults.start);
    watch(limitMs, faults.work);
    thread.postMessage(first.question);
  };

  return (question: Question): Promise<Answer> => {
    const asked = { question, ...Promise.withResolvers<Answer>() };
    if (waiting.push(asked) === 1) ask();
    return asked.promise;
  };
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (name: string) => string }): { createScriptURL(name: string): unknown };
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined;

/** Throws where no thread can be started. The page's policy lets these addresses become threads, by a policy that knows no others (`trusted-types notebridge-thread`). */
function startThread(name: string): Worker {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy('notebridge-thread', { createScriptURL: toAddress });
  return new Worker((policy ? policy.createScriptURL(name) : toAddress(name)) as string, { type: 'module', name });
}

function toAddress(name: string): string {
  return new URL(name === 'find' ? 'find.js' : 'markdown.js', document.baseURI).href;
}
