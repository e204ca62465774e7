import { createNodeKernel, type NodeKernelOptions } from '../../../src/kernel/node-kernel.js';
import { buildKernel } from './built-kernel.js';
import { interruptGraceMs, type KernelHarness, measure } from './kernel-harness.js';

export async function openNodeHarness({ files, ...options }: NodeKernelOptions = {}): Promise<KernelHarness> {
  const built = await buildKernel();
  const kernel = createNodeKernel({ interruptGraceMs, ...options, files: { ...built.files, ...files } });
  return {
    kernel,
    measure: (source, options) => measure(kernel, source, options),
    async close() {
      await kernel.close();
      built.dispose();
    },
  };
}
