/** JavaScript by QuickJS in WebAssembly, in a process of its own as Python is: it may read its own files, and begin nothing. */
import type { SandboxMode } from '../sandbox/spec.js';
import type { Layer } from './layers.js';
import { openNodeProcess } from './node-process.js';
import { WorkerKernel, type WorkerKernelOptions } from './worker-kernel.js';

export interface QuickJsKernelOptions extends Omit<WorkerKernelOptions, 'openWorker' | 'services'> {
  /** Whether the process is in a sandbox of the operating system. Default `auto`: where one works. */
  sandbox?: SandboxMode | undefined;
  /** Memory that the process may write to where it is in a sandbox, in bytes. Default: see sandbox/limits.ts. */
  maxDataBytes?: number | undefined;
  /** What code itself holds, in bytes; one more is an error in the code. Default: 512 MiB. */
  maxCodeBytes?: number | undefined;
  /** The built folder `kernel/`. Default: where this package was built. */
  folderUrl?: URL | undefined;
}

const defaultCodeBytes = 512 * 1024 ** 2;

class QuickJsKernel extends WorkerKernel {
  protected readonly restarted = 'JavaScript';
  protected readonly about = { name: 'quickjs', displayName: 'JavaScript (QuickJS)', language: 'javascript' };
}

export function createQuickJsKernel({
  sandbox = 'auto',
  maxDataBytes,
  maxCodeBytes = defaultCodeBytes,
  folderUrl = new URL('./', import.meta.url),
  ...others
}: QuickJsKernelOptions = {}): WorkerKernel {
  return new QuickJsKernel({
    ...others,
    openWorker: openNodeProcess({
      program: {
        mainUrl: new URL('worker/node-main.js', folderUrl),
        workerPath: '../quickjs/quickjs-worker.js',
        readable: [],
        folder: folderUrl,
        start: { type: 'start', fetchOrigins: [], maxBytes: maxCodeBytes },
        describeRuntime,
      },
      sandbox,
      maxDataBytes,
    }),
  });
}

function describeRuntime(): Layer {
  const text = "code runs in WebAssembly (QuickJS), which holds no object of Node; no code from text, Node's permission flags";
  return { name: 'runtime', active: true, text };
}
