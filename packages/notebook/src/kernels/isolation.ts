import type { FolderAccess, SandboxMode } from '@notebridge/sandbox/spec';
import type { Layer } from '../kernel/layers.js';
import { folderInside } from '../kernel/worker/folder-fs.js';
import { type FoundKernel, pyodideKernel } from './found-kernel.js';
import type { PyodideReach } from './pyodide-reach.js';

export interface IsolationFacts {
  readonly sandbox: SandboxMode;
  readonly layers: readonly Layer[] | undefined;
  /** What was given to a sandbox: `--files`, and `--allow-net`. */
  readonly files: FolderAccess | undefined;
  readonly allowNet: readonly string[];
  /** Asked of Pyodide alone. */
  readonly reach: () => PyodideReach;
}

/** What code of a kernel can do to this machine: the words of window, `get_notebook_info` and instructions alike. */
export function describeIsolation(kernel: FoundKernel, { sandbox, layers, files = 'ro', allowNet, reach }: IsolationFacts): string {
  if (kernel.id === pyodideKernel.id) return describePyodide(reach());
  const system = layers?.find(({ name }) => name === 'operating system');
  if (system ? system.active : sandbox === 'require')
    return `A program of this machine, in a sandbox of the operating system: it ${ofFolder[files]}, ${ofServers(allowNet)}, and installs no packages. ${openers(files, allowNet)}`;
  if (!system && sandbox === 'auto')
    return 'A program of this machine, in a sandbox of the operating system where one works: the layers say so once it has started.';
  return "A program of this machine that runs as its user, with the user's files and network. Nothing stands between its code and this machine.";
}

const ofFolder: { readonly [access in FolderAccess]: string } = {
  none: 'has no files of this machine',
  ro: 'reads the notebook’s folder and writes nothing there',
  rw: 'reads and writes the notebook’s folder',
};

function ofServers(servers: readonly string[]): string {
  return servers.length === 0 ? 'reaches no server' : `reaches ${servers.join(', ')} alone`;
}

/** What the person starts Notebridge with for more. */
function openers(files: FolderAccess, servers: readonly string[]): string {
  const ofFiles = { none: 'For the folder: --files ro or rw. ', ro: 'To write there: --files rw. ', rw: '' }[files];
  return `${ofFiles}For ${servers.length === 0 ? 'a server' : 'another server'}: --allow-net HOST.`;
}

function describePyodide({ folder, servers }: PyodideReach): string {
  const network = servers.length === 0 ? 'without network' : `with ${servers.join(', ')} as the only servers that it reaches`;
  if (folder === undefined)
    return `Python in WebAssembly, ${network} and without the files of this machine. To read the notebook’s folder: --files ro. For a server: --allow-net HOST.`;
  return `Python in WebAssembly, ${network}. It begins in ${folderInside}, which is the notebook's folder, to read; it has no other file of this machine. To write there: another kernel, with --files rw. For a server: --allow-net HOST.`;
}
