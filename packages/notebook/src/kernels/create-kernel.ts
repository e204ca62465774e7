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
export function createFoundKernel({ launch, id }: FoundKernel, { tools, sandbox }: CreateKernelOptions): Kernel {
  if (!launch) return createNodeKernel({ tools, sandbox });
  throw new Error(`${id} cannot be started yet`);
}
