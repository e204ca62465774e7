/**
 * Gives Pyodide a global scope that is neither Node's nor a page's, but that of a bare JavaScript shell: it then uses no
 * `process`, no `require`, no files, no sockets and no programs of the host, and holds none of them when Python comes.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PlainAbortController } from './abort-signal.js';
import { plainFunctions } from './plain-functions.js';

/**
 * Returns a function that removes what only loading needs. Without `isPlain`, for tests of the other layers, what
 * lasts is the runtime's own.
 */
export function openShellScope({ isPlain }: { isPlain: boolean }): () => void {
  const loading = {
    WorkerGlobalScope: class {},
    load() {},
    read: (url: string) => readFileSync(fileOf(url), 'utf8'),
    readbuffer: (url: string) => readFileSync(fileOf(url)),
    ...(isPlain ? { MessageChannel: ImmediateChannel } : {}),
  };
  const lasting = () => ({ AbortController: PlainAbortController, ...plainFunctions() });
  for (const [name, value] of Object.entries({ process: undefined, ...loading, ...(isPlain ? lasting() : {}) }))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  return () => {
    for (const name of Object.keys(loading)) Reflect.deleteProperty(globalThis, name);
  };
}

/** Pyodide makes a path of a URL by leaving out what stands before it: spaces and the like are still encoded. */
function fileOf(url: string): string {
  return fileURLToPath(new URL(url, 'file:///'));
}

/** Pyodide takes turns of the event loop by a message to itself. This is the same without a port of Node's. */
class ImmediateChannel {
  readonly port1: { onmessage?: () => void } = {};
  readonly port2 = { postMessage: () => void setImmediate(() => this.port1.onmessage?.()) };
}
