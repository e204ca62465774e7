import type { Layer } from '../kernel/layers.js';
import type { SandboxMode } from '../sandbox/spec.js';
import { type FoundKernel, pyodideKernel } from './found-kernel.js';

/** What code of a kernel can do to this machine: the words of window, `get_notebook_info` and instructions alike. */
export function describeIsolation(kernel: FoundKernel, sandbox: SandboxMode, layers?: readonly Layer[]): string {
  if (kernel.id === pyodideKernel.id) return 'Python in WebAssembly, without network and without the files of this machine.';
  const system = layers?.find(({ name }) => name === 'operating system');
  if (system ? system.active : sandbox === 'require')
    return 'A program of this machine, in a sandbox of the operating system: it reaches only what the sandbox was given.';
  if (!system && sandbox === 'auto')
    return 'A program of this machine, in a sandbox of the operating system where one works: the layers say so once it has started.';
  return "A program of this machine that runs as its user, with the user's files and network. Nothing stands between its code and this machine.";
}
