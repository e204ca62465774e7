/** Something asked for the end: a signal, or the reader of our output who has gone. */
export class Stopped extends Error {
  /** What a shell makes of a program that a signal ended. */
  readonly exitCode: number;

  constructor(signal: keyof typeof signals) {
    super(signal);
    this.name = 'Stopped';
    this.exitCode = 128 + signals[signal];
  }
}

const signals = { SIGHUP: 1, SIGINT: 2, SIGPIPE: 13, SIGTERM: 15 };

/** Aborts with a `Stopped` on the first signal that asks for the end; the next one ends the process at once. */
export function abortOnSignal(): AbortSignal {
  const controller = new AbortController();
  const abort = (signal: keyof typeof signals): void => controller.abort(new Stopped(signal));
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.once(signal, () => abort(signal));
  process.stdout.on('error', () => abort('SIGPIPE'));
  return controller.signal;
}
