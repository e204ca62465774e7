/** Python in a process of its own, under Node's permission model: it may read its own files, and begin nothing. */

import type { RelaySeam } from '../relay/reach.js';
import { createRelayFetch } from '../relay/relay-fetch.js';
import type { SandboxMode } from '../sandbox/spec.js';
import { FetchService } from './fetch-service.js';
import { FolderService, type FolderServiceOptions } from './folder-service.js';
import { type KernelFiles, openNodeProcess } from './node-process.js';
import { findPyodide, findSes, findSnapshot, findStandardLibrary } from './pyodide-files.js';
import { PyodideKernel, type PyodideKernelOptions } from './pyodide-kernel.js';

export interface NodeKernelOptions extends Omit<PyodideKernelOptions, 'openWorker' | 'services'> {
  /** The folder that code may read, as `/notebook`; the host reads it. Default: none. */
  folder?: FolderServiceOptions | undefined;
  /**
   * Servers that code may fetch from, as `--allow-net` has them; the host fetches, and reaches public addresses alone. Takes the place of
   * `fetchOrigins`. Throws for an entry that names no server. Default: none, and what code fetches is refused.
   */
  allowNet?: readonly string[] | undefined;
  /** @internal For tests, whose servers are on loopback. */
  relaySeam?: RelaySeam | undefined;

  /**
   * The origins that Python may fetch from, as in `http://127.0.0.1:8765`. Default: none. With some, the sandbox has the machine's
   * network, and only JavaScript holds Python to them; `sandbox: 'require'` refuses that.
   */
  fetchOrigins?: readonly string[];
  /** Whether Python is in a sandbox of the operating system. Default `auto`: where one works. */
  sandbox?: SandboxMode | undefined;
  /** Memory that it may write to where it is in a sandbox, in bytes; Node reserves 2 GiB of it at once. Default: see sandbox/limits.ts. */
  maxDataBytes?: number | undefined;
  /** Code has a folder `/out`, in memory, and `takeWritten` takes what it writes there. Default `false`. */
  givesFiles?: boolean | undefined;
  /** Where the kernel's own files are. Default: where this package was built, and where Node finds `pyodide`. */
  files?: Partial<KernelFiles>;
  /** @internal `false` leaves the JavaScript around Python open, so that tests can attack the other layers alone. */
  hardening?: boolean;
}

export function createNodeKernel(options: NodeKernelOptions = {}): PyodideKernel {
  const {
    fetchOrigins = [],
    sandbox = 'auto',
    files = {},
    folder,
    allowNet,
    relaySeam,
    hardening = true,
    maxDataBytes,
    givesFiles = false,
    ...others
  } = options;
  const all = { ...installedFiles(files), ...files };
  const relayFetch = allowNet && createRelayFetch({ allow: allowNet, seam: relaySeam });
  return new PyodideKernel({
    ...others,
    services: { files: folder && (() => new FolderService(folder)), network: relayFetch && (() => new FetchService(relayFetch)) },
    openWorker: openNodeProcess({
      files: all,
      fetchOrigins,
      asks: { ...(folder ? { files: 'ro' } : {}), ...(relayFetch ? { network: true } : {}), ...(givesFiles ? { out: true } : {}) },
      hardening,
      sandbox,
      maxDataBytes,
    }),
  });
}

function installedFiles({ indexUrl = findPyodide(), sesUrl = findSes() }: Partial<KernelFiles>): KernelFiles {
  const stdlibUrl = findStandardLibrary(indexUrl);
  const snapshotUrl = findSnapshot(indexUrl);
  return {
    workerUrl: new URL('./worker/node-main.js', import.meta.url),
    pythonUrl: new URL('./python/', import.meta.url),
    indexUrl,
    sesUrl,
    ...(stdlibUrl ? { stdlibUrl } : {}),
    ...(snapshotUrl ? { snapshotUrl } : {}),
  };
}
