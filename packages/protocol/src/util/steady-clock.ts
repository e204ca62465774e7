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
