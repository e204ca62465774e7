import { describe, expect, it } from 'vitest';
import { Cancellation } from '../core/cancellation.js';
import { WaitQueue } from './wait-queue.js';

const longWait = { timeoutMs: 1e12, onTimeout: () => new Error('too late') };

describe('WaitingLine', () => {
  it('serves in the order in which they came', async () => {
    const line = new WaitQueue<string>();
    const waiting = [line.wait(longWait), line.wait(longWait)];
    expect([line.settleFirst('a'), line.settleFirst('b'), line.settleFirst('c')]).toEqual([true, true, false]);
    expect(await Promise.all(waiting)).toEqual(['a', 'b']);
    expect(line.length).toBe(0);
  });

  it('serves those of several in turns, however many of one wait', { tags: ['P-399'] }, async () => {
    const line = new WaitQueue<void>();
    const served: string[] = [];
    const wait = (who: string, name: string) => line.wait({ ...longWait, who }).then(() => served.push(name));
    const all = [wait('a', 'a1'), wait('a', 'a2'), wait('a', 'a3'), wait('b', 'b1'), wait('c', 'c1'), wait('b', 'b2')];
    expect(line.length).toBe(6);
    while (line.settleFirst());
    await Promise.all(all);
    expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(line.length).toBe(0);
  });

  it('drops waiters that cancel, before and while they wait', async () => {
    const line = new WaitQueue<string>();
    const cancellation = new Cancellation();
    const first = line.wait({ ...longWait, cancellation });
    const second = line.wait(longWait);
    cancellation.cancel('stop');
    await expect(first).rejects.toMatchObject({ code: 'cancelled' });
    await expect(line.wait({ ...longWait, cancellation })).rejects.toMatchObject({ code: 'cancelled' });
    line.settleFirst('b');
    expect(await second).toBe('b');
    expect(line.length).toBe(0);
  });

  it('drops waiters that have waited long enough', async () => {
    const line = new WaitQueue<string>();
    await expect(line.wait({ ...longWait, timeoutMs: 1 })).rejects.toThrow('too late');
    expect(line.settleFirst('a')).toBe(false);
  });

  it('serves all at once, with a value or with an error', async () => {
    const line = new WaitQueue<string>();
    const served = [line.wait(longWait), line.wait(longWait)];
    line.settleAll('a');
    expect(await Promise.all(served)).toEqual(['a', 'a']);
    const failed = Promise.allSettled([line.wait(longWait), line.wait(longWait)]);
    line.failAll(new Error('none'));
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
