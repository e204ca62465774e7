/** Entry of the worker thread in the kernel's own process; see node-main.ts. */
import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs/promises';
import net from 'node:net';
import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import type { Command, Hardened, StartCommand } from '../messages.js';
import { fingerprintOf, unpackSnapshot } from '../snapshot-file.js';
import { emptyProcess, hardenRealm, refuseNetwork } from './harden-realm.js';
import { createFetchClient } from './main-thread-fetch.js';
import { serve } from './serve.js';
import { openShellScope } from './shell-scope.js';

const port = parentPort;
if (!port) throw new Error('node-worker.js is started by node-main.js');
const { process } = globalThis;

// A KeyboardInterrupt that hit a callback of Pyodide's, or a rejection that nobody waits for, must not end Python.
process.on('uncaughtException', () => {});

const fetchClient = createFetchClient((message) => port.postMessage(message));
let closeShellScope = () => {};

serve({
  post: (report) => port.postMessage(report),
  onMessage: (listener) => port.on('message', (message: StartCommand | Command) => fetchClient.take(message) || listener(message)),
  receiveNow() {
    for (;;) {
      const message = receiveMessageOnPort(port)?.message as Command | undefined;
      if (message === undefined || !fetchClient.take(message)) return message;
    }
  },
  sendRequest: () => fetchClient.send,
  async loadPyodide(command, options) {
    const { indexUrl, stdlibUrl, sesUrl, hardening } = command;
    const reading = readSnapshot(command).catch(toFault);
    if (hardening !== false) {
      if (sesUrl === undefined) throw new Error('Hardening JavaScript: the start command names no "sesUrl"');
      refuseNetwork();
      await import(sesUrl);
    }
    const found = await reading;
    closeShellScope = openShellScope({ isPlain: hardening !== false });
    const { loadPyodide } = (await import(`${indexUrl}pyodide.mjs`)) as typeof import('pyodide');
    const load = (more: { _loadSnapshot?: Uint8Array }) =>
      loadPyodide({ ...options, ...more, indexURL: indexUrl, ...(stdlibUrl ? { stdLibURL: stdlibUrl } : {}) });
    const loaded = found instanceof Error ? found : await load({ _loadSnapshot: found }).catch(toFault);
    return loaded instanceof Error ? { pyodide: await load({}), slowStart: loaded.message } : { pyodide: loaded };
  },
  protect({ hardening }, ours): Hardened | undefined {
    closeShellScope();
    if (hardening === false) return undefined;
    emptyProcess(process);
    return hardenRealm([...ours, EventEmitter, net.Socket, Object.getPrototypeOf(port), Object.getPrototypeOf(process)]);
  },
  readText: (url) => readFile(new URL(url), 'utf8'),
});

/** Python would run on with memory that is not its own: it is taken only with the very files that it was made of. */
async function readSnapshot({ snapshotUrl, ...command }: StartCommand): Promise<Uint8Array> {
  if (snapshotUrl === undefined) throw new Error('there is no snapshot for these files');
  return unpackSnapshot(await fingerprintOf(command), await readFile(new URL(snapshotUrl)));
}

function toFault(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
