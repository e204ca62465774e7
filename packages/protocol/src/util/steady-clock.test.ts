import { describe, expect, it } from 'vitest';
import { createSteadyClock } from './runtime.js';

function createMachine() {
  let [monotonic, slept, offset, reads] = [5_000, 0, 1_700_000_000_000, 0];
  const steady = createSteadyClock({
    monotonic: () => monotonic,
    wall: () => monotonic + slept + offset,
    sinceBoot: () => {
      reads += 1;
      // As Linux tells it.
      return Math.floor((monotonic + slept + 60_000) / 10) * 10;
    },
  });
  return {
    steady,
    reads: () => reads,
    run: (ms: number) => {
      monotonic += ms;
    },
    sleep: (ms: number) => {
      slept += ms;
    },
    set: (ms: number) => {
      offset += ms;
    },
  };
}

describe('createSteadyClock', () => {
  it('goes on while the machine is suspended', () => {
    const { steady, run, sleep } = createMachine();
    const before = steady();
    run(1_234);
    sleep(60_000);
    expect(steady() - before).toBeCloseTo(61_234, -2);
    run(10);
    sleep(5_000);
    expect(steady() - before).toBeCloseTo(66_244, -2);
  });

  it.each([600_000, -600_000])('does not follow a wall clock that is set by %i ms, also around a suspension', (ms) => {
    const { steady, run, sleep, set } = createMachine();
    const before = steady();
    set(ms);
    run(100);
    expect(steady() - before).toBeLessThan(120);
    sleep(10_000);
    set(ms);
    expect(steady() - before).toBeCloseTo(10_100, -2);
  });

  it('the clock never goes back, and asks what costs only when something has happened', () => {
    const { steady, run, set, sleep, reads } = createMachine();
    let last = steady();
    for (let round = 0; round < 1_000; round += 1) {
      run(3);
      if (round % 100 === 50) set(round % 200 === 50 ? -5_000 : 5_000);
      if (round === 500) sleep(3_000);
      const now = steady();
      expect(now).toBeGreaterThanOrEqual(last + 3);
      last = now;
    }
    expect(reads()).toBe(1 + 10 + 1);
  });
});
