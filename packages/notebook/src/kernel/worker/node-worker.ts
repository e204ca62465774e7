/** Entry of the worker thread in the kernel's own process; see node-main.ts. */
import { constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import type { Command } from '../messages.js';
import { limitConnections } from './node-network.js';
import { serve } from './serve.js';

const port = parentPort;
if (!port) throw new Error('node-worker.js is started by node-main.js');

// A KeyboardInterrupt that hit a callback of Pyodide's, or a rejection that nobody waits for, must not end Python.
process.on('uncaughtException', () => {});

serve({
  post: (report) => port.postMessage(report),
  onMessage: (listener) => port.on('message', listener),
  receiveNow: () => receiveMessageOnPort(port)?.message as Command | undefined,
  async loadPyodide({ indexUrl, stdlibUrl, fetchOrigins }, options) {
    limitConnections(fetchOrigins);
    // Emscripten asks for the open flags this way, which Node refuses under its permission model.
    Object.assign(process, { binding: () => ({ fs: constants }) });
    const { loadPyodide } = (await import(`${indexUrl}pyodide.mjs`)) as typeof import('pyodide');
    const stdlib = stdlibUrl ? { stdLibURL: fileURLToPath(stdlibUrl) } : {};
    return loadPyodide({ ...options, indexURL: fileURLToPath(indexUrl), ...stdlib });
  },
  readText: (url) => readFile(new URL(url), 'utf8'),
});
