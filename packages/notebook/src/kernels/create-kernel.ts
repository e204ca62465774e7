import { createJupyterKernel } from '../kernel/jupyter/jupyter-kernel.js';
import type { Kernel } from '../kernel/kernel.js';
import type { KernelTools } from '../kernel/kernel-tools.js';
import { createNodeKernel } from '../kernel/node-kernel.js';
import type { SandboxMode } from '../sandbox/spec.js';
import type { FoundKernel } from './found-kernel.js';

export interface CreateKernelOptions {
  /** Where the code begins: the notebook's folder. */
  folder: string;
  tools?: KernelTools | undefined;
  sandbox: SandboxMode;
}

/** The kernel of what was found, not started. */
export function createFoundKernel({ launch }: FoundKernel, { folder, tools, sandbox }: CreateKernelOptions): Kernel {
  return launch ? createJupyterKernel({ ...launch, folder, tools, sandbox }) : createNodeKernel({ tools, sandbox });
}
