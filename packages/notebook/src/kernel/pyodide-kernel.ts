import { WorkerKernel, type WorkerKernelOptions } from './worker-kernel.js';
import type { Written, WrittenBounds } from './written-files.js';

export type PyodideKernelOptions = WorkerKernelOptions;

/** Python by Pyodide. Runs in pages and in Node. */
export class PyodideKernel extends WorkerKernel {
  protected readonly restarted = 'Python';
  protected readonly about = { name: 'pyodide', displayName: 'Python (Pyodide)', language: 'python' };

  /** See `Kernel`. Undefined while a cell runs. */
  async takeWritten(bounds: WrittenBounds): Promise<Written | undefined> {
    return this.idleEngine?.takeWritten(bounds);
  }
}
