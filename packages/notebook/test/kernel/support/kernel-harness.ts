import type { Kernel } from '../../../src/kernel/kernel.js';
import type { Output } from '../../../src/model/output.js';

/** A kernel under test, wherever it runs. */
export interface KernelHarness {
  kernel: Kernel;
  /** In a page numbers are as JavaScript has them. */
  roundsNumbers?: true;
  /** Runs a cell and measures its streams where they arrive, for output too big to carry about. */
  measure(source: string, options?: MeasureOptions): Promise<Measured>;
  close(): Promise<void>;
}

export interface MeasureOptions {
  interruptAfterMs?: number;
  /** When so much was printed: the cell runs by then, however busy the machine is. */
  interruptAfterCharacters?: number;
}

export interface Measured {
  status: string;
  outputs: number;
  characters: number;
  longest: number;
}

/** On a machine that is busy, or stands still for some seconds, Python may be late to hear of an interrupt: then it is not to be restarted. */
export const interruptGraceMs = 6000;

export async function measure(
  kernel: Kernel,
  source: string,
  { interruptAfterMs, interruptAfterCharacters = Number.POSITIVE_INFINITY }: MeasureOptions = {},
): Promise<Measured> {
  const measured = { outputs: 0, characters: 0, longest: 0 };
  const controller = new AbortController();
  const signals = [controller.signal, ...(interruptAfterMs === undefined ? [] : [AbortSignal.timeout(interruptAfterMs)])];
  const { status } = await kernel.execute(source, {
    onOutput(output: Output) {
      if (output.output_type !== 'stream') return;
      measured.outputs++;
      measured.characters += output.text.length;
      measured.longest = Math.max(measured.longest, output.text.length);
      if (measured.characters >= interruptAfterCharacters) controller.abort();
    },
    signal: AbortSignal.any(signals),
  });
  return { status, ...measured };
}
