/** Entry of the Worker of a page. Serve this folder and its parent as they are built; no bundler is needed. */
import type { Command, SentReport, StartCommand } from '../messages.js';
import { createPlainFetch } from './plain-fetch.js';
import { serve } from './serve.js';
import type { WorkerSide } from './worker-side.js';

interface Scope {
  postMessage(message: unknown): void;
  addEventListener(type: string, listener: (event: { data: StartCommand | Command; preventDefault(): void }) => void): void;
}

const scope = globalThis as unknown as Scope;
const postMessage = scope.postMessage.bind(scope);

// A KeyboardInterrupt that hit a callback of Pyodide's is not the page's error.
for (const type of ['error', 'unhandledrejection']) scope.addEventListener(type, (event) => event.preventDefault());

serve({
  post: (report: SentReport) => postMessage(report),
  onMessage: (listener) => scope.addEventListener('message', (event) => listener(event.data)),
  async loadPyodide({ indexUrl, stdlibUrl }, options) {
    const { loadPyodide } = (await import(`${indexUrl}pyodide.mjs`)) as typeof import('pyodide');
    return { pyodide: await loadPyodide({ ...options, indexURL: indexUrl, ...(stdlibUrl ? { stdLibURL: stdlibUrl } : {}) }) };
  },
  sendRequest(fetchOrigins) {
    const plainFetch = createPlainFetch(fetchOrigins);
    return (request) => {
      const controller = new AbortController();
      return { response: plainFetch(request, controller.signal), abort: () => controller.abort() };
    };
  },
  protect: lockDown,
  async readText(url) {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`Loading "${url}": the server answered ${response.status}`);
    return response.text();
  },
} satisfies WorkerSide);

/**
 * Takes from the worker's global scope what Python has no business with, once Pyodide is loaded. A second line behind the
 * `js` module: code that gets hold of a JavaScript object finds no way to new code, to the network or to the process.
 * What counts as a boundary, and what does not, is described in the README of the kernel.
 */
function lockDown(): undefined {
  for (const name of hidden) hide(globalThis, name);
  // Emscripten notes the status of os._exit in here.
  if ('process' in globalThis) hide(globalThis, 'process', {});
  // `anything.constructor.constructor("code")` is the classic way from any object to new code.
  for (const sample of [() => {}, async () => {}, function* () {}, async function* () {}])
    hide(Object.getPrototypeOf(sample), 'constructor');
}

const hidden = [
  'eval',
  'require',
  'module',
  'fetch',
  'XMLHttpRequest',
  'WebSocket',
  'WebSocketStream',
  'WebTransport',
  'EventSource',
  'RTCPeerConnection',
  'BroadcastChannel',
  'Worker',
  'SharedWorker',
  'importScripts',
  'postMessage',
  'close',
  'indexedDB',
  'caches',
  'cookieStore',
  'navigator',
  'location',
];

function hide(holder: object, name: string, value?: object): void {
  try {
    Object.defineProperty(holder, name, { value, writable: false, configurable: false });
  } catch {
    // Not ours to change in this runtime.
  }
}
