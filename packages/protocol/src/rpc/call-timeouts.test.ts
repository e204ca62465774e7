import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CallTimeouts } from './waiting-calls.js';

describe('CallTimeouts', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  it.each([100, 9_999])('ends a short wait to the millisecond (%d)', (timeoutMs) => {
    const onOver = vi.fn();
    new CallTimeouts().start(timeoutMs, onOver);
    vi.advanceTimersByTime(timeoutMs - 1);
    expect(onOver).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(onOver).toHaveBeenCalledOnce();
  });

  it.each([10_000, 10_001, 60_000, 3_600_000])('ends a long wait never early, and at most two ticks late (%d)', (timeoutMs) => {
    const timeouts = new CallTimeouts();
    timeouts.start(60_000_000, () => {});
    // The clock runs already, so the first tick comes soon.
    vi.advanceTimersByTime(999);
    const onOver = vi.fn();
    timeouts.start(timeoutMs, onOver);
    vi.advanceTimersByTime(timeoutMs - 1);
    expect(onOver).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2001);
    vi.advanceTimersByTime(timeoutMs);
    expect(onOver).toHaveBeenCalledOnce();
  });

  it('begins anew when it is renewed', () => {
    const onOver = vi.fn();
    const timeout = new CallTimeouts().start(20_000, onOver);
    vi.advanceTimersByTime(19_000);
    timeout.renew();
    vi.advanceTimersByTime(19_000);
    expect(onOver).not.toHaveBeenCalled();
    vi.advanceTimersByTime(3_000);
    expect(onOver).toHaveBeenCalledOnce();
  });

  it('waits for ever when it is asked to', () => {
    const onOver = vi.fn();
    new CallTimeouts().start(Number.POSITIVE_INFINITY, onOver);
    vi.advanceTimersByTime(24 * 60 * 60 * 1000);
    expect(onOver).not.toHaveBeenCalled();
  });

  it('does not call back what was ended, also by another that is over in the same tick', () => {
    const timeouts = new CallTimeouts();
    const told: string[] = [];
    const ended = timeouts.start(20_000, () => told.push('ended'));
    ended.end();
    ended.end();
    timeouts.start(20_000, () => {
      told.push('first');
      second.end();
    });
    const second = timeouts.start(20_000, () => told.push('second'));
    timeouts.start(20_000, () => told.push('third'));
    vi.advanceTimersByTime(30_000);
    expect(told).toEqual(['first', 'third']);
  });

  it('stops its clock when nothing waits, and starts it again', () => {
    const timeouts = new CallTimeouts();
    timeouts.start(20_000, () => {}).end();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1000);
    expect(vi.getTimerCount()).toBe(0);
    const onOver = vi.fn();
    timeouts.start(20_000, onOver);
    vi.advanceTimersByTime(22_000);
    expect(onOver).toHaveBeenCalledOnce();
  });
});
