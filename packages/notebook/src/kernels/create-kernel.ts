import { realpathSync } from 'node:fs';
import type { Logger } from '@notebridge/protocol/util/logger';
import { assertMayBeGiven, assertMayBeWritten } from '@notebridge/sandbox/given-folder';
import { parseAllowedServers } from '@notebridge/sandbox/relay/allowed-servers';
import type { RunPlace, SandboxMode } from '@notebridge/sandbox/spec';
import { createJupyterKernel, type JupyterKernelOptions } from '../kernel/jupyter/jupyter-kernel.js';
import type { Kernel } from '../kernel/kernel.js';
import { createNodeKernel } from '../kernel/node-kernel.js';
import { openSandbox } from '../kernel/open-sandbox.js';
import { HostError } from '../session/host-error.js';
import type { FoundKernel, KernelLaunch } from './found-kernel.js';
import { assertKernelUsable, type PyodideReach } from './pyodide-reach.js';

export interface CreateKernelOptions extends Omit<JupyterKernelOptions, keyof KernelLaunch> {
  sandbox: SandboxMode;
  /** The reach of Pyodide's code. */
  reach: () => PyodideReach;
  logger?: Logger | undefined;
}

/** The kernel of what was found, not started. Rejects with `sandbox_unavailable` where what code may reach would not be kept. */
export async function createFoundKernel({ launch }: FoundKernel, options: CreateKernelOptions): Promise<Kernel> {
  const { reach, logger, ...others } = options;
  const { folder, tools, sandbox, files, allowNet = [], ours = [], runs = [] } = others;
  if (!launch) {
    const { folder: read, servers } = reach();
    return createNodeKernel({ tools, sandbox, logger, allowNet: servers, folder: read === undefined ? undefined : { folder: read, ours } });
  }
  if (files !== undefined) await assertKept(`--files ${files}`, sandbox);
  // Now, and not when the kernel starts.
  if (files === 'rw') assertKernelUsable(() => assertMayBeGivenToWrite(folder, { ours, runs }));
  assertKernelUsable(() => parseAllowedServers(allowNet));
  if (allowNet.length > 0) await assertKept(`--allow-net ${allowNet.join(',')}`, sandbox);
  return createJupyterKernel({ ...launch, ...others });
}

function assertMayBeGivenToWrite(folder: string, how: { ours: readonly string[]; runs: readonly RunPlace[] }): void {
  const real = realpathSync(folder);
  assertMayBeGiven(real, how.ours);
  assertMayBeWritten(real, how);
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
