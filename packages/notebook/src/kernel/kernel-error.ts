/** `kernel_start_failed`: did not begin. `kernel_died`: ended while it ran the cell. `kernel_dead`: has ended before. `kernel_closed`: by us. */
export type KernelErrorCode = 'kernel_start_failed' | 'kernel_died' | 'kernel_dead' | 'kernel_closed';

export class KernelError extends Error {
  readonly code: KernelErrorCode;

  constructor(code: KernelErrorCode, message: string) {
    super(message);
    this.name = 'KernelError';
    this.code = code;
  }
}
