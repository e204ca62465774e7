import { WorkerKernel, type WorkerKernelOptions } from './worker-kernel.js';

export type PyodideKernelOptions = WorkerKernelOptions;

/** Python by Pyodide. Runs in pages and in Node. */
export class PyodideKernel extends WorkerKernel {
  protected readonly restarted = 'Python';
  protected readonly about = { name: 'pyodide', displayName: 'Python (Pyodide)', language: 'python' };
}
