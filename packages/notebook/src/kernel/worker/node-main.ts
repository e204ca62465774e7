/**
 * Entry of the kernel's own process in Node. Its main thread stays free: it hands messages between the kernel (lines of JSON on
 * stdin and stdout) and the worker thread with Python, raises the interrupt flag, and ends everything when stdin ends, also
 * while Python computes.
 */
import './ignore-sigusr1.js';
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { toLine, withBytes } from '../line-bytes.js';
import type { Command, StartCommand } from '../messages.js';
import { createSender, createSignals } from '../shared-signals.js';
import { createFetchServer, type FetchAnswer, type FetchMessage } from './main-thread-fetch.js';

type Line = StartCommand | Command | { type: 'acknowledge'; characters: number };

const signals = createSignals();
const sender = createSender(signals);
let takeFetch: ((message: FetchMessage) => void) | undefined;
// Python's thread gets the same permissions, but for those to use the network and to begin further threads: these could be begun
// without any.
const inherited = process.execArgv.filter((flag) => /^--(permission|experimental-permission|allow-fs-read=|no-warnings)/.test(flag));
// V8 optimizes a function of WebAssembly after so many bytes of it have run: 1.8 million in Node 20, 13 million in 22 and 24. With these,
// up to half of a start is spent on optimizing what runs in the start alone. A V8 that does not know the flag ignores it.
setFlagsFromString('--wasm-tiering-budget=50000000');
const worker = new Worker(new URL('./node-worker.js', import.meta.url), { env: {}, execArgv: inherited, stdout: true, stderr: true });

// Nothing but reports may be on stdout.
worker.stdout.resume();
worker.stderr.pipe(process.stderr);
worker.on('message', (message) => {
  if (message?.type === 'fetch' || message?.type === 'fetchAbort') takeFetch?.(message);
  else process.stdout.write(`${toLine(message)}\n`);
});
worker.on('error', (error) => end(error.message));
worker.on('exit', (code) => end(`its thread ended with code ${code}`));
process.stdout.on('error', () => process.exit(1));

createInterface({ input: process.stdin })
  .on('line', (line) => obey(withBytes(JSON.parse(line)) as Line))
  .on('close', () => process.exit(0));

function obey(message: Line): void {
  // Where Python may fetch from is said on stdin, and by nobody in Python's thread.
  if (message.type === 'start') takeFetch ??= createFetchServer(message.fetchOrigins, answerFetch);
  if (message.type === 'acknowledge') {
    sender.acknowledge(message.characters);
    return;
  }
  if (message.type === 'interrupt') sender.interrupt(message.count);
  worker.postMessage(message.type === 'start' && signals ? { ...message, signals } : message);
  sender.arrive();
}

function answerFetch(answer: FetchAnswer): void {
  worker.postMessage(answer);
  sender.arrive();
}

function end(reason: string): void {
  process.stdout.write(`${JSON.stringify({ type: 'dead', reason })}\n`, () => process.exit(1));
}
