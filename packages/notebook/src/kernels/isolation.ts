import type { Layer } from '../kernel/layers.js';
import { folderInside } from '../kernel/worker/folder-fs.js';
import type { SandboxMode } from '../sandbox/spec.js';
import { type FoundKernel, pyodideKernel } from './found-kernel.js';
import type { PyodideReach } from './pyodide-reach.js';

export interface IsolationFacts {
  readonly sandbox: SandboxMode;
  readonly layers: readonly Layer[] | undefined;
  /** Asked of Pyodide alone. */
  readonly reach: () => PyodideReach;
}

/** What code of a kernel can do to this machine: the words of window, `get_notebook_info` and instructions alike. */
export function describeIsolation(kernel: FoundKernel, { sandbox, layers, reach }: IsolationFacts): string {
  if (kernel.id === pyodideKernel.id) return describePyodide(reach());
  const system = layers?.find(({ name }) => name === 'operating system');
  if (system ? system.active : sandbox === 'require')
    return 'A program of this machine, in a sandbox of the operating system: it reaches only what the sandbox was given.';
  if (!system && sandbox === 'auto')
    return 'A program of this machine, in a sandbox of the operating system where one works: the layers say so once it has started.';
  return "A program of this machine that runs as its user, with the user's files and network. Nothing stands between its code and this machine.";
}

function describePyodide({ folder, servers }: PyodideReach): string {
  const network = servers.length === 0 ? 'without network' : `with ${servers.join(', ')} as the only servers that it reaches`;
  if (folder === undefined) return `Python in WebAssembly, ${network} and without the files of this machine.`;
  return `Python in WebAssembly, ${network}. It begins in ${folderInside}, which is the notebook's folder, to read; it has no other file of this machine.`;
}
