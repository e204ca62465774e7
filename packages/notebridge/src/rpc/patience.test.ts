import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Patiences } from './patience.js';

describe('Patiences', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  it.each([100, 9_999])('ends a short wait to the millisecond (%d)', (timeoutMs) => {
    const onOver = vi.fn();
    new Patiences().start(timeoutMs, onOver);
    vi.advanceTimersByTime(timeoutMs - 1);
    expect(onOver).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(onOver).toHaveBeenCalledOnce();
  });

  it.each([10_000, 10_001, 60_000, 3_600_000])('ends a long wait never early, and at most two ticks late (%d)', (timeoutMs) => {
    const patiences = new Patiences();
    patiences.start(60_000_000, () => {});
    // The clock runs already, so the first tick comes soon.
    vi.advanceTimersByTime(999);
    const onOver = vi.fn();
    patiences.start(timeoutMs, onOver);
    vi.advanceTimersByTime(timeoutMs - 1);
    expect(onOver).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2001);
    vi.advanceTimersByTime(timeoutMs);
    expect(onOver).toHaveBeenCalledOnce();
  });

  it('begins anew when it is renewed', () => {
    const onOver = vi.fn();
    const patience = new Patiences().start(20_000, onOver);
    vi.advanceTimersByTime(19_000);
    patience.renew();
    vi.advanceTimersByTime(19_000);
    expect(onOver).not.toHaveBeenCalled();
    vi.advanceTimersByTime(3_000);
    expect(onOver).toHaveBeenCalledOnce();
  });

  it('waits for ever when it is asked to', () => {
    const onOver = vi.fn();
    new Patiences().start(Number.POSITIVE_INFINITY, onOver);
    vi.advanceTimersByTime(24 * 60 * 60 * 1000);
    expect(onOver).not.toHaveBeenCalled();
  });

  it('does not call back what was ended, also by another that is over in the same tick', () => {
    const patiences = new Patiences();
    const told: string[] = [];
    const ended = patiences.start(20_000, () => told.push('ended'));
    ended.end();
    ended.end();
    patiences.start(20_000, () => {
      told.push('first');
      second.end();
    });
    const second = patiences.start(20_000, () => told.push('second'));
    patiences.start(20_000, () => told.push('third'));
    vi.advanceTimersByTime(30_000);
    expect(told).toEqual(['first', 'third']);
  });

  it('stops its clock when nobody waits, and starts it again', () => {
    const patiences = new Patiences();
    patiences.start(20_000, () => {}).end();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1000);
    expect(vi.getTimerCount()).toBe(0);
    const onOver = vi.fn();
    patiences.start(20_000, onOver);
    vi.advanceTimersByTime(22_000);
    expect(onOver).toHaveBeenCalledOnce();
  });
});
