import { createHash } from 'node:crypto';
import type { Runtime } from '@notebridge/protocol/util/runtime';

/** Time that passes only when a test says so, and chance that repeats. */
export interface SteppedRuntime extends Runtime {
  /** Lets so many milliseconds pass: timers call in their order, and what they begin goes as far as it can without time. */
  pass(ms: number): Promise<void>;
  /** Of the clock that may be wrong, milliseconds. */
  wrongBy: number;
}

const start = 1_800_000_000_000;

export function createSteppedRuntime(seed = 1): SteppedRuntime {
  let now = 0;
  let drawn = 0;
  let timers: { at: number; call: () => void }[] = [];
  const runtime: SteppedRuntime = {
    wrongBy: 0,
    steady: () => now,
    now: () => Math.floor(start + now + runtime.wrongBy),
    after: (ms, call) => {
      const timer = { at: now + ms, call };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    bytes: (count) => {
      const blocks: Buffer[] = [];
      for (let size = 0; size < count; size += 32) blocks.push(createHash('sha256').update(`${seed} ${drawn++}`).digest());
      return Buffer.concat(blocks).subarray(0, count);
    },
    pass: async (ms) => {
      const end = now + ms;
      await settled();
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers = timers.filter((other) => other !== next);
        now = Math.max(now, next.at);
        next.call();
        await settled();
      }
      now = end;
    },
  };
  return runtime;
}

/** What needs no time has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
