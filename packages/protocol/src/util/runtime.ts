import { randomBytes } from 'node:crypto';
import { uptime } from 'node:os';

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

/** Milliseconds each: of a clock that is never set but stands still while the machine is suspended, of one that is set, and since the boot. */
export interface ClocksOfMachine {
  monotonic: () => number;
  wall: () => number;
  /** Goes on while the machine is suspended. Costs most to read. */
  sinceBoot: () => number;
}

/** Between two clocks that nobody has touched. */
const toleranceMs = 100;

/**
 * A clock that is never set and that goes on while the machine is suspended: the monotonic one of Linux does not, and a hub that wakes on a
 * virtual machine would believe that its lease is as good as before. That either has happened shows in the wall clock, which costs nothing
 * to read; whether it was set or the machine slept, the time since the boot tells.
 */
export function createSteadyClock({ monotonic, wall, sinceBoot }: ClocksOfMachine): () => number {
  const bootAhead = sinceBoot() - monotonic();
  let wallAhead = wall() - monotonic();
  let suspendedMs = 0;
  return () => {
    const now = monotonic();
    const ahead = wall() - now;
    if (Math.abs(ahead - wallAhead) > toleranceMs) {
      wallAhead = ahead;
      suspendedMs = Math.max(suspendedMs, sinceBoot() - now - bootAhead);
    }
    return now + suspendedMs;
  };
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
