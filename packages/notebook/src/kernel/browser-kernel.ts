/** Python in a Worker of this page. */
import type { KernelWorker, OpenWorker } from './kernel-worker.js';
import { type StartCommand, withShown } from './messages.js';
import { PyodideKernel, type PyodideKernelOptions } from './pyodide-kernel.js';
import { createSender, createSignals } from './shared-signals.js';

export interface BrowserKernelOptions extends Omit<PyodideKernelOptions, 'openWorker'> {
  /** Where this package's `kernel/worker/browser-worker.js` is served. Default: beside this module. */
  workerUrl?: URL;
  /** Where this package's `kernel/python/` is served. Default: beside this module. */
  pythonUrl?: URL;
  /** Where the files of the npm package `pyodide` are served. */
  indexUrl: URL;
  /** Where the server serves what `findStandardLibrary` found. Without it the start takes seconds longer. */
  stdlibUrl?: URL;
  /** The origins that Python may fetch from, as in `http://127.0.0.1:8765`. Default: none. */
  fetchOrigins?: readonly string[];
}

export function createBrowserKernel(options: BrowserKernelOptions): PyodideKernel {
  return new PyodideKernel({ ...options, openWorker: openBrowserWorker(options) });
}

function openBrowserWorker(options: BrowserKernelOptions): OpenWorker {
  const workerUrl = options.workerUrl ?? new URL('./worker/browser-worker.js', import.meta.url);
  const pythonUrl = options.pythonUrl ?? new URL('./python/', import.meta.url);
  return ({ onReport, onExit }) => {
    const worker = new Worker(workerUrl, { type: 'module', name: 'notebridge-kernel' });
    const signals = createSignals();
    const sender = createSender(signals);
    worker.onmessage = (event) => onReport(withShown(event.data));
    // Loading failed, or an error that the worker did not keep to itself.
    worker.onerror = (event) => onExit(event.message || `the worker "${workerUrl.href}" could not be loaded`);
    const start: StartCommand = {
      type: 'start',
      indexUrl: options.indexUrl.href,
      pythonUrl: pythonUrl.href,
      fetchOrigins: options.fetchOrigins ?? [],
      stdlibUrl: options.stdlibUrl?.href,
      signals,
    };
    worker.postMessage(start);
    return {
      send: (command) => worker.postMessage(command),
      interrupt(count) {
        sender.interrupt(count);
        worker.postMessage({ type: 'interrupt', count });
      },
      acknowledge: (characters) => sender.acknowledge(characters),
      async terminate() {
        worker.terminate();
      },
    } satisfies KernelWorker;
  };
}
