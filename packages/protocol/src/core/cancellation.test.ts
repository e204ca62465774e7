import { describe, expect, it } from 'vitest';
import { Cancellation } from './cancellation.js';

describe('Cancellation', () => {
  it('calls every listener once, with the first reason', () => {
    const cancellation = new Cancellation();
    const told: string[] = [];
    cancellation.onCancel((reason) => told.push(`a ${reason}`));
    cancellation.onCancel((reason) => told.push(`b ${reason}`));
    expect(cancellation.reason).toBeUndefined();
    cancellation.cancel('first');
    cancellation.cancel('second');
    expect(told).toEqual(['a first', 'b first']);
    expect(cancellation.reason).toBe('first');
  });

  it('calls a listener that comes late at once', () => {
    const cancellation = new Cancellation();
    cancellation.cancel('');
    const told: string[] = [];
    cancellation.onCancel((reason) => told.push(reason))();
    expect(told).toEqual(['']);
  });

  it('calls no listener that has unsubscribed', () => {
    const cancellation = new Cancellation();
    const told: string[] = [];
    const stop = cancellation.onCancel((reason) => told.push(reason));
    stop();
    stop();
    cancellation.cancel('x');
    expect(told).toEqual([]);
  });

  it('is an AbortSignal for who wants one, made before or after', () => {
    const before = new Cancellation();
    const { signal } = before;
    expect(signal.aborted).toBe(false);
    before.cancel('enough');
    const after = new Cancellation();
    after.cancel('enough');
    for (const aborted of [signal, after.signal]) {
      expect(aborted.aborted).toBe(true);
      expect(aborted.reason).toMatchObject({ name: 'AbortError', message: 'enough' });
    }
    expect(before.signal).toBe(signal);
  });
});
