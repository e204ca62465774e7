import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AsyncEvent } from './async-event.js';

describe('AsyncEvent', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('lets every waiter go on when it is set, and who comes later at once', async () => {
    const event = new AsyncEvent();
    const waits = [event.wait(), event.wait(1000), event.wait(undefined, new AbortController().signal)];
    expect(event.isSet()).toBe(false);
    event.set();
    event.set();
    expect(event.isSet()).toBe(true);
    expect(await Promise.all([...waits, event.wait()])).toEqual([true, true, true, true]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('makes new waiters wait again once it is cleared, and keeps its word to the earlier ones', async () => {
    const event = new AsyncEvent();
    const earlier = event.wait();
    event.set();
    event.clear();
    expect(await earlier).toBe(true);
    const later = event.wait(50);
    await vi.advanceTimersByTimeAsync(50);
    expect(await later).toBe(false);
  });

  it('gives up after the time given, and not before', async () => {
    const event = new AsyncEvent();
    const wait = event.wait(100);
    await vi.advanceTimersByTimeAsync(99);
    event.set();
    expect(await wait).toBe(true);
  });

  it('gives up when the signal is aborted, before or meanwhile', async () => {
    const event = new AsyncEvent();
    const controller = new AbortController();
    const wait = event.wait(100, controller.signal);
    controller.abort();
    expect(await wait).toBe(false);
    expect(await event.wait(100, controller.signal)).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('lets a waiter wait again from within', async () => {
    const event = new AsyncEvent();
    const again = event.wait().then(() => {
      event.clear();
      return event.wait(10);
    });
    event.set();
    await vi.advanceTimersByTimeAsync(10);
    expect(await again).toBe(false);
  });
});
