import { createHash } from 'node:crypto';

/** What is done to the site, and when. */
export interface PlannedFault {
  /** `drain`: it is asked to end, and started again, as in an upgrade. */
  kind: 'kill' | 'pause' | 'cut' | 'nats' | 'drain';
  /** Index of the hub, or of the server of NATS. */
  at: number;
  /** After the load has begun. Milliseconds. */
  fromMs: number;
  /** How long it is away. Milliseconds. */
  forMs: number;
}

export interface FaultPlanOptions {
  seed: number;
  seconds: number;
  hubs: number;
  /** False: there are neither links to cut nor servers of NATS to lose. */
  isSpread: boolean;
}

const minuteMs = 60_000;
/** After the last fault, for all to come back. */
const quietMs = 5000;

/**
 * Faults for the time of the load, each kind once a minute and one after the other, so that a majority of NATS is always there. A run of
 * less than a minute has one minute's, made shorter in proportion. The same seed plans the same.
 */
export function planFaults({ seed, seconds, hubs, isSpread }: FaultPlanOptions): PlannedFault[] {
  const random = createRandom(seed);
  const between = (low: number, high: number): number => Math.round(low + random() * (high - low));
  const any = (): number => Math.floor(random() * hubs);
  const wholeMs = seconds * 1000 - quietMs;
  const periodMs = Math.min(minuteMs, wholeMs);
  const scale = periodMs / minuteMs;
  const faults: PlannedFault[] = [];
  for (let startMs = 0; startMs + periodMs <= wholeMs; startMs += periodMs) {
    const add = (kind: PlannedFault['kind'], afterMs: number, forMs: number): void =>
      void faults.push({ kind, at: any(), fromMs: Math.round(startMs + afterMs * scale), forMs: Math.round(forMs * scale) });
    add('kill', between(2000, 4000), between(1000, 3000));
    if (isSpread) add('cut', between(10_000, 11_000), between(6000, 9000));
    if (isSpread) add('nats', between(22_000, 23_000), between(3000, 6000));
    if (isSpread) add('drain', between(29_000, 30_000), between(500, 1500));
    add('pause', between(34_000, 36_000), between(15_000, 21_000));
  }
  return faults;
}

/** Numbers in [0, 1) that a seed decides. */
function createRandom(seed: number): () => number {
  let count = 0;
  return () => createHash('sha256').update(`${seed} ${++count}`).digest().readUInt32BE() / 2 ** 32;
}
