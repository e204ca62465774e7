/** Entry of the Worker of a page. Serve this folder and its parent as they are built; no bundler is needed. */
import type { Command, SentReport, StartCommand } from '../messages.js';
import { lockDown } from './lock-down.js';
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
