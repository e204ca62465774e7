/** Python in a process of its own, under Node's permission model: it may read its own files, and begin nothing. */
import { type KernelFiles, openNodeProcess } from './node-process.js';
import { findPyodide, findStandardLibrary } from './pyodide-files.js';
import { PyodideKernel, type PyodideKernelOptions } from './pyodide-kernel.js';

export interface NodeKernelOptions extends Omit<PyodideKernelOptions, 'openWorker'> {
  /** The origins that Python may fetch from, as in `http://127.0.0.1:8765`. Default: none. */
  fetchOrigins?: readonly string[];
  /** Where the kernel's own files are. Default: where this package was built, and where Node finds `pyodide`. */
  files?: Partial<KernelFiles>;
}

export function createNodeKernel({ fetchOrigins = [], files = {}, ...options }: NodeKernelOptions = {}): PyodideKernel {
  const all = { ...installedFiles(files.indexUrl ?? findPyodide()), ...files };
  return new PyodideKernel({ ...options, openWorker: openNodeProcess(all, fetchOrigins) });
}

function installedFiles(indexUrl: URL): KernelFiles {
  const stdlibUrl = findStandardLibrary(indexUrl);
  return {
    workerUrl: new URL('./worker/node-main.js', import.meta.url),
    pythonUrl: new URL('./python/', import.meta.url),
    indexUrl,
    ...(stdlibUrl ? { stdlibUrl } : {}),
  };
}
