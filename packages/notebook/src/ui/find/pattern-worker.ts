import { type PatternQuestion, work } from './pattern-work.js';

/** A thread of its own for patterns: it can be ended, and the page goes on. */
addEventListener('message', ({ data }: MessageEvent<PatternQuestion>) => postMessage(work(data)));
postMessage('ready');
