/**
 * `kernel_start_failed`: did not begin. `kernel_died`: ended while it ran the cell. `kernel_dead`: has ended before. `kernel_closed`: by us.
 * `sandbox_unavailable`: a sandbox is required, and none works here.
 */
export type KernelErrorCode = 'kernel_start_failed' | 'kernel_died' | 'kernel_dead' | 'kernel_closed' | 'sandbox_unavailable';

export class KernelError extends Error {
  readonly code: KernelErrorCode;

  constructor(code: KernelErrorCode, message: string) {
    super(message);
    this.name = 'KernelError';
    this.code = code;
  }
}
