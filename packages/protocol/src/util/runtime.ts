import { randomBytes } from 'node:crypto';
import { uptime } from 'node:os';
import { createSteadyClock } from './steady-clock.js';

/**
 * Time and chance, for code that hubs agree by. It takes them from here and from nowhere else, so that a simulation can run the same code
 * with clocks, timers and chance of its own; `npm run check` enforces it.
 */
export interface Runtime {
  /** Milliseconds of a clock that is never set, and that goes on while this process is stopped or its machine suspended. What a hub decides by. */
  steady(): number;
  /** Milliseconds since the epoch, as this machine has it: it may be wrong by minutes. For people, and for ends that people have set. */
  now(): number;
  /**
   * Calls once, after so many milliseconds; it keeps no process alive. 0: as soon as all that came together has been handled. Returns the
   * function that calls it off.
   */
  after(ms: number, call: () => void): () => void;
  /** So many bytes that nobody can foretell. */
  bytes(count: number): Buffer;
}

export const systemRuntime: Runtime = {
  steady: createSteadyClock({ monotonic: () => performance.now(), wall: () => Date.now(), sinceBoot: () => uptime() * 1_000 }),
  now: () => Date.now(),
  after: (ms, call) => {
    if (ms === 0) {
      // It is due before anything could end; and without a reference the loop would wait for something else before it calls.
      const immediate = setImmediate(call);
      return () => clearImmediate(immediate);
    }
    const timer = setTimeout(call, ms).unref();
    return () => clearTimeout(timer);
  },
  bytes: (count) => randomBytes(count),
};
