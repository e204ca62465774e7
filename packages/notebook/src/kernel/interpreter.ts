/** The life of one worker: opened, ready, ended. A restart is a new one. */
import { KernelError } from './kernel-error.js';
import type { KernelWorker, OpenWorker } from './kernel-worker.js';
import { type Hardened, parseReport, type Report } from './messages.js';

export interface InterpreterEvents {
  onReport: (report: Report) => void;
  /** It was ready and ended by itself. */
  onDeath: (reason: string) => void;
}

export interface Interpreter {
  readonly worker: KernelWorker;
  /** Resolves to Python's version, what protects the host from within the worker, if anything, and why its start was slow, if it was. */
  readonly ready: Promise<{ version: string; hardened: Hardened | undefined; slowStart: string | undefined }>;
  /** No event comes afterwards. */
  end(): Promise<void>;
}

export function openInterpreter(openWorker: OpenWorker, startTimeoutMs: number, events: InterpreterEvents): Interpreter {
  let phase: 'starting' | 'ready' | 'ended' = 'starting';
  const { promise: ready, resolve, reject } = withResolvers<Awaited<Interpreter['ready']>>();
  // A caller that ends it early does not wait for it.
  ready.catch(() => {});

  const over = (reason: string) => {
    if (phase === 'ended') return;
    const before = phase;
    phase = 'ended';
    clearTimeout(timer);
    reject(new KernelError('kernel_start_failed', `Starting Python: ${reason}. Restart the kernel to try again`));
    void worker.terminate();
    if (before === 'ready') events.onDeath(reason);
  };

  const worker = openWorker({
    onExit: over,
    onReport(value) {
      const report = parseReport(value);
      if (!report || phase === 'ended') return;
      if (report.type === 'dead') over(report.reason);
      else if (report.type !== 'ready') events.onReport(report);
      else if (phase === 'starting') {
        phase = 'ready';
        clearTimeout(timer);
        resolve({ version: report.version, hardened: report.hardened, slowStart: report.slowStart });
      }
    },
  });
  const timer = setTimeout(() => over(`it was not ready after ${startTimeoutMs / 1000} s`), startTimeoutMs);

  return {
    worker,
    ready,
    async end() {
      phase = 'ended';
      clearTimeout(timer);
      reject(new KernelError('kernel_start_failed', 'Starting Python: it was ended before it was ready'));
      await worker.terminate();
    },
  };
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
