import { toLogger } from '@notebridge/protocol/util/logger';
import { createNodeKernel, type NodeKernelOptions } from '../../../src/kernel/node-kernel.js';
import { buildKernel } from './built-kernel.js';
import { interruptGraceMs, type KernelHarness, measure } from './kernel-harness.js';

/** A Python that does not begin with its snapshot does not start: what is tested is what people get. */
const strictLogger = toLogger((_level, message, { reason }) => {
  throw new Error(`${message} ${reason}`);
});

export async function openNodeHarness({ files, ...options }: NodeKernelOptions = {}): Promise<KernelHarness> {
  const built = await buildKernel();
  const kernel = createNodeKernel({ interruptGraceMs, logger: strictLogger, ...options, files: { ...built.files, ...files } });
  return {
    kernel,
    measure: (source, options) => measure(kernel, source, options),
    async close() {
      await kernel.close();
      built.dispose();
    },
  };
}
