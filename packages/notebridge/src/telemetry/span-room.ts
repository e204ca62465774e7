import type { Logger } from '@notebridge/kit/logger';

/**
 * The places in which spans wait to be sent, at most so many. Once they are taken, no new trace is begun: it would be made in vain, and what
 * arrives is then whole traces rather than parts of all. That is told of once, and at the end with the number. `origin`: where they are sent.
 */
export function createSpanRoom({ most, logger, origin }: { most: number; logger: Logger; origin: string }) {
  let waiting = 0;
  let leftOut = 0;
  /** Whether there is a place. If not, what asked is counted as left out. */
  const admits = (): boolean => {
    if (waiting < most) return true;
    if (++leftOut === 1)
      logger.warn(
        `More traces than ${origin} takes: ${most} spans wait to be sent, and further traces are left out. "sampleRatio" makes them fewer.`,
      );
    return false;
  };
  return {
    admits,
    /** Takes a place for a span that has ended. False: there is none. */
    take: (): boolean => {
      if (!admits()) return false;
      waiting++;
      return true;
    },
    /** So many spans are on their way. */
    free: (count: number): void => {
      waiting -= count;
    },
    /** To be called once. */
    close: (): void => {
      if (leftOut > 0) logger.warn(`${leftOut} traces, or parts of them, were left out: they did not fit into memory.`);
    },
  };
}
