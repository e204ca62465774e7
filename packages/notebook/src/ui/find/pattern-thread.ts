import { startThread } from '../threads.js';
import type { PatternAnswer, PatternQuestion } from './pattern-work.js';

/** For one question. A common one takes a few milliseconds in the longest notebook. */
const limitMs = 1000;
/** For the thread's own start. */
const startLimitMs = 20_000;

interface Asked {
  readonly question: PatternQuestion;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

/** One after the other, so that each has the thread's whole time. */
const waiting: Asked[] = [];
let thread: Worker | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Rejects for a pattern that takes too long. */
export function workInThread<Question extends PatternQuestion>(question: Question): Promise<PatternAnswer<Question>> {
  return new Promise((resolve, reject) => {
    waiting.push({ question, resolve, reject });
    if (waiting.length === 1) ask();
  });
}

function ask(): void {
  const [first] = waiting;
  if (!first) return;
  if (thread) return send(thread, first);
  const started = startThread('find');
  thread = started;
  watch(startLimitMs, 'Its thread does not start.');
  started.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (started !== thread) return;
    const [asked] = waiting;
    if (data === 'ready') return void (asked && send(started, asked));
    settle(() => asked?.resolve(data as never));
  });
  started.addEventListener('error', () => started === thread && fail('Its thread failed.'));
}

function send(to: Worker, { question }: Asked): void {
  watch(limitMs, 'This pattern takes too long.');
  to.postMessage(question);
}

function watch(ms: number, fault: string): void {
  clearTimeout(timer);
  timer = setTimeout(() => fail(fault), ms);
}

function fail(fault: string): void {
  thread?.terminate();
  thread = undefined;
  const [first] = waiting;
  settle(() => first?.reject(new Error(fault)));
}

function settle(end: () => void): void {
  clearTimeout(timer);
  waiting.shift();
  end();
  ask();
}
