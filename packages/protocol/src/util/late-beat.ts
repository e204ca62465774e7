/** A beat that takes so much longer than it should is late: timers of a busy process are, by less. */
const lateFactor = 1.5;

/**
 * Creates what a beat asks each time, before it judges who has not answered the one before: whether it comes late. Then this process has
 * stood still, as when the machine slept. What was answered meanwhile is not read yet, and the other side may have slept as well, so both
 * have the time until the next beat.
 */
export function createLateness(everyMs: number, now: () => number = () => performance.now()): () => boolean {
  let lastAt = now();
  return () => {
    const sinceMs = now() - lastAt;
    lastAt += sinceMs;
    return sinceMs > everyMs * lateFactor;
  };
}
