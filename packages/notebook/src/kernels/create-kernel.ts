import { messageOf } from '@notebridge/kit/message-of';
import { HostError } from '../host/host-error.js';
import { createJupyterKernel } from '../kernel/jupyter/jupyter-kernel.js';
import type { Kernel } from '../kernel/kernel.js';
import type { KernelTools } from '../kernel/kernel-tools.js';
import { createNodeKernel } from '../kernel/node-kernel.js';
import { parseAllowedServers } from '../relay/allowed-servers.js';
import { openSandbox } from '../sandbox/sandbox.js';
import type { FolderAccess, SandboxMode } from '../sandbox/spec.js';
import type { FoundKernel } from './found-kernel.js';

export interface CreateKernelOptions {
  /** Where the code begins: the notebook's folder. */
  folder: string;
  tools?: KernelTools | undefined;
  sandbox: SandboxMode;
  /** See `NotebookHostOptions`, as the next two. */
  files?: FolderAccess | undefined;
  allowNet?: readonly string[] | undefined;
  ours?: readonly string[] | undefined;
}

/** The kernel of what was found, not started. Rejects with `sandbox_unavailable` where what code may reach would not be kept. */
export async function createFoundKernel({ launch }: FoundKernel, options: CreateKernelOptions): Promise<Kernel> {
  const { folder, tools, sandbox, files, allowNet = [], ours } = options;
  if (!launch) {
    if (files === 'ro' || files === 'rw') throw notForPyodide(`--files ${files}`, 'reaches no files of this machine');
    if (allowNet.length > 0) throw notForPyodide(`--allow-net ${allowNet.join(',')}`, 'reaches no network');
    return createNodeKernel({ tools, sandbox });
  }
  if (files !== undefined) await assertKept(`--files ${files}`, sandbox);
  assertServers(allowNet);
  if (allowNet.length > 0) await assertKept(`--allow-net ${allowNet.join(',')}`, sandbox);
  return createJupyterKernel({ ...launch, folder, tools, sandbox, files, allowNet, ours });
}

function assertServers(allowNet: readonly string[]): void {
  try {
    parseAllowedServers(allowNet);
  } catch (error) {
    throw new HostError('kernel_unusable', messageOf(error));
  }
}

async function assertKept(option: string, mode: SandboxMode): Promise<void> {
  const refuse = (reason: string, next: string) =>
    new HostError('sandbox_unavailable', `"${option}" is kept by the sandbox of the operating system alone, and ${reason}. ${next}`);
  const { sandbox, layerOf } = await openSandbox(mode === 'require' ? 'auto' : mode);
  if (sandbox?.isTested) return;
  const { text, fix } = layerOf({});
  const leave = 'Or leave the option out: then code reaches what you do.';
  throw refuse(mode === 'off' ? 'that was switched off' : text, `${mode === 'off' ? 'Use --sandbox=require.' : (fix ?? '')} ${leave}`);
}

function notForPyodide(option: string, text: string): HostError {
  return new HostError(
    'kernel_unusable',
    `"${option}" cannot be kept by the kernel "pyodide", which ${text}. Choose an own Python: "--kernel auto", or its path; "notebridge kernels" lists them.`,
  );
}
