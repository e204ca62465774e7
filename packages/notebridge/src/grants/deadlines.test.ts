// @module-tag P-173

import { describe, expect, it } from 'vitest';
import { Deadline } from './grant-index.js';

describe('A deadline', () => {
  const start = 1_800_000_000_000;
  const open = () => {
    const time = { now: start, steady: 50 };
    const pass = (ms: number): void => {
      time.now += ms;
      time.steady += ms;
    };
    return { time, pass, deadline: (at: number) => new Deadline(at, { now: () => time.now, steady: () => time.steady }) };
  };

  it('comes by the clock, also while the machine sleeps', () => {
    const { time, pass, deadline } = open();
    const a = deadline(start + 100);
    expect(a.isOver()).toBe(false);
    pass(99);
    expect(a.isOver()).toBe(false);
    time.now += 1;
    expect(a.isOver()).toBe(true);
  });

  it('comes in time when the clock is set back, and goes with it when it is set forward by mistake', () => {
    const { time, pass, deadline } = open();
    const a = deadline(start + 100);
    expect(a.isOver()).toBe(false);
    time.now -= 86_400_000;
    pass(99);
    expect(a.isOver()).toBe(false);
    pass(1);
    expect(a.isOver()).toBe(true);
    const b = deadline(time.now + 100);
    expect(b.isOver()).toBe(false);
    time.now += 86_400_000;
    expect(b.isOver()).toBe(true);
    time.now -= 86_400_000;
    expect(b.isOver()).toBe(false);
  });

  it('is another when its time is another', () => {
    const { time, pass, deadline } = open();
    const a = deadline(start + 100);
    expect(a.isOver()).toBe(false);
    time.now -= 1000;
    pass(100);
    expect([a.isOver(), deadline(start + 101).isOver(), deadline(start + 100).isOver()]).toEqual([true, false, false]);
  });
});
