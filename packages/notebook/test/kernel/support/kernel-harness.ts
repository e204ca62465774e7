import type { Kernel, Output } from '../../../src/kernel/kernel.js';

/** A kernel under test, wherever it runs. */
export interface KernelHarness {
  kernel: Kernel;
  /** Runs a cell and measures its streams where they arrive, for output too big to carry about. */
  measure(source: string, options?: { interruptAfterMs?: number }): Promise<Measured>;
  close(): Promise<void>;
}

export interface Measured {
  status: string;
  outputs: number;
  characters: number;
  longest: number;
  elapsedMs: number;
}

/** Code that waits for an interrupt must not wait five seconds for the restart. */
export const interruptGraceMs = 1500;

export async function measure(kernel: Kernel, source: string, interruptAfterMs?: number): Promise<Measured> {
  const measured = { outputs: 0, characters: 0, longest: 0 };
  const startMs = performance.now();
  const { status } = await kernel.execute(source, {
    onOutput(output: Output) {
      if (output.output_type !== 'stream') return;
      measured.outputs++;
      measured.characters += output.text.length;
      measured.longest = Math.max(measured.longest, output.text.length);
    },
    ...(interruptAfterMs === undefined ? {} : { signal: AbortSignal.timeout(interruptAfterMs) }),
  });
  return { status, ...measured, elapsedMs: performance.now() - startMs };
}
