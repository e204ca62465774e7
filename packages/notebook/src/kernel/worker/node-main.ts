/**
 * Entry of the kernel's own process in Node. Its main thread stays free: it hands messages between the kernel (lines of JSON on
 * stdin and stdout) and the worker thread with Python, raises the interrupt flag, and ends everything when stdin ends, also
 * while Python computes.
 */
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import type { Command, StartCommand } from '../messages.js';
import { createSender, createSignals } from '../shared-signals.js';

type Line = StartCommand | Command | { type: 'acknowledge'; characters: number };

const signals = createSignals();
const sender = createSender(signals);
// Python's thread gets the same permissions, but for the one to begin further threads: those could be begun without any.
const inherited = process.execArgv.filter((flag) =>
  /^--(permission|experimental-permission|allow-fs-read=|allow-net|no-warnings)/.test(flag),
);
const worker = new Worker(new URL('./node-worker.js', import.meta.url), { env: {}, execArgv: inherited, stdout: true, stderr: true });

// Nothing but reports may be on stdout.
worker.stdout.resume();
worker.stderr.pipe(process.stderr);
worker.on('message', (report) => process.stdout.write(`${JSON.stringify(report)}\n`));
worker.on('error', (error) => end(error.message));
worker.on('exit', (code) => end(`its thread ended with code ${code}`));
process.stdout.on('error', () => process.exit(1));

createInterface({ input: process.stdin })
  .on('line', (line) => obey(JSON.parse(line) as Line))
  .on('close', () => process.exit(0));

function obey(message: Line): void {
  if (message.type === 'acknowledge') {
    sender.acknowledge(message.characters);
    return;
  }
  if (message.type === 'interrupt') sender.interrupt(message.count);
  worker.postMessage(message.type === 'start' && signals ? { ...message, signals } : message);
  sender.arrive();
}

function end(reason: string): void {
  process.stdout.write(`${JSON.stringify({ type: 'dead', reason })}\n`, () => process.exit(1));
}
