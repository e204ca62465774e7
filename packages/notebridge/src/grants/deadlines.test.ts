// @module-tag P-173

import { describe, expect, it } from 'vitest';
import { Deadlines } from './grant-index.js';

describe('Deadlines', () => {
  const start = 1_800_000_000_000;
  const open = () => {
    const time = { now: start, steady: 50 };
    const pass = (ms: number): void => {
      time.now += ms;
      time.steady += ms;
    };
    return { time, pass, deadlines: new Deadlines({ now: () => time.now, steady: () => time.steady }) };
  };

  it('come by the clock, also while the machine sleeps', () => {
    const { time, pass, deadlines } = open();
    expect(deadlines.isOver('a', start + 100)).toBe(false);
    pass(99);
    expect(deadlines.isOver('a', start + 100)).toBe(false);
    time.now += 1;
    expect(deadlines.isOver('a', start + 100)).toBe(true);
  });

  it('come in time when the clock is set back, and go with it when it is set forward by mistake', () => {
    const { time, pass, deadlines } = open();
    expect(deadlines.isOver('a', start + 100)).toBe(false);
    time.now -= 86_400_000;
    pass(99);
    expect(deadlines.isOver('a', start + 100)).toBe(false);
    pass(1);
    expect(deadlines.isOver('a', start + 100)).toBe(true);
    expect(deadlines.isOver('b', time.now + 100)).toBe(false);
    const end = time.now + 100;
    time.now += 86_400_000;
    expect(deadlines.isOver('b', end)).toBe(true);
    time.now -= 86_400_000;
    expect(deadlines.isOver('b', end)).toBe(false);
  });

  it('are others when their time is another, and are forgotten when they are not needed', () => {
    const { time, pass, deadlines } = open();
    expect(deadlines.isOver('a', start + 100)).toBe(false);
    time.now -= 1000;
    pass(100);
    expect([deadlines.isOver('a', start + 100), deadlines.isOver('a', start + 101)]).toEqual([true, false]);
    deadlines.forget('a', start + 101);
    expect(deadlines.isOver('a', start + 100)).toBe(true);
    deadlines.forget('a', start + 100);
    expect(deadlines.isOver('a', start + 100)).toBe(false);
  });
});
