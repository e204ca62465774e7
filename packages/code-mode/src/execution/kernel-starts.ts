export const kernelStartOutcomes = ['ok', 'failed'] as const;
export type KernelStartOutcome = (typeof kernelStartOutcomes)[number];

/** Learns of each Python that code mode has started, or could not start. */
export interface KernelStartObserver {
  /** Never throws. `durationMs`: until it was ready, or had failed. */
  kernelStarted(outcome: KernelStartOutcome, durationMs: number): void;
}
