import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonWith } from '../../../../../scripts/python-env.mjs';
import { createJupyterKernel, type JupyterKernel, type JupyterKernelOptions } from '../../../src/kernel/jupyter/jupyter-kernel.js';
import { type KernelHarness, measure } from './kernel-harness.js';

export interface JupyterHarness extends KernelHarness {
  kernel: JupyterKernel;
  /** Where the kernel began: a fresh folder. */
  folder: string;
}

/** A Python with ipykernel, and what people use beside it. Made once, which takes a minute. */
export function sciencePython(): Promise<string> {
  const packages = ['ipykernel', 'jupyter_client', 'numpy', 'pandas', 'matplotlib', 'scikit-learn', 'ipywidgets'];
  return pythonWith(packages);
}

export async function openJupyterHarness(options: Partial<JupyterKernelOptions> = {}): Promise<JupyterHarness> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-notebook-')));
  const python = options.python ?? (await sciencePython());
  const kernel = createJupyterKernel({ folder, interruptGraceMs: 10_000, ...options, python });
  return {
    kernel,
    folder,
    measure: (source, options) => measure(kernel, source, options),
    async close() {
      await kernel.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
