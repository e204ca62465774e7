import { realpathSync } from 'node:fs';
import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';
import { createJupyterKernel } from '../kernel/jupyter/jupyter-kernel.js';
import type { Restriction } from '../kernel/jupyter/sandbox-notes.js';
import type { Kernel } from '../kernel/kernel.js';
import type { KernelTools } from '../kernel/kernel-tools.js';
import { createNodeKernel } from '../kernel/node-kernel.js';
import { openSandbox } from '../kernel/open-sandbox.js';
import { parseAllowedServers } from '../relay/allowed-servers.js';
import { assertMayBeGiven, assertMayBeWritten } from '../sandbox/given-folder.js';
import type { FolderAccess, RunPlace, SandboxMode } from '../sandbox/spec.js';
import { HostError } from '../session/host-error.js';
import type { FoundKernel } from './found-kernel.js';
import type { PyodideReach } from './pyodide-reach.js';

export interface CreateKernelOptions {
  /** Where the code begins: the notebook's folder. */
  folder: string;
  /** Its file, for messages. */
  file?: string | undefined;
  tools?: KernelTools | undefined;
  sandbox: SandboxMode;
  /** See `NotebookHostOptions`, as the next three. */
  files?: FolderAccess | undefined;
  allowNet?: readonly string[] | undefined;
  ours?: readonly string[] | undefined;
  runs?: readonly RunPlace[] | undefined;
  /** The reach of Pyodide's code. */
  reach: () => PyodideReach;
  /** Called when the sandbox of an own Python has kept code from something. */
  onRestricted?: ((restriction: Restriction) => void) | undefined;
  logger?: Logger | undefined;
}

/** The kernel of what was found, not started. Rejects with `sandbox_unavailable` where what code may reach would not be kept. */
export async function createFoundKernel({ launch }: FoundKernel, options: CreateKernelOptions): Promise<Kernel> {
  const { folder, file, tools, sandbox, files, allowNet = [], ours, runs, reach, onRestricted, logger } = options;
  if (!launch) {
    const { folder: read, servers } = reach();
    return createNodeKernel({ tools, sandbox, logger, allowNet: servers, folder: read === undefined ? undefined : { folder: read, ours } });
  }
  if (files !== undefined) await assertKept(`--files ${files}`, sandbox);
  if (files === 'rw') assertWritable(folder, options);
  assertServers(allowNet);
  if (allowNet.length > 0) await assertKept(`--allow-net ${allowNet.join(',')}`, sandbox);
  return createJupyterKernel({ ...launch, folder, file, tools, sandbox, files, allowNet, ours, runs, onRestricted });
}

/** Now, and not when the kernel starts. */
function assertWritable(folder: string, { ours = [], runs = [] }: Pick<CreateKernelOptions, 'ours' | 'runs'>): void {
  try {
    const real = realpathSync(folder);
    assertMayBeGiven(real, ours);
    assertMayBeWritten(real, { ours, runs });
  } catch (error) {
    throw new HostError('kernel_unusable', messageOf(error));
  }
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
