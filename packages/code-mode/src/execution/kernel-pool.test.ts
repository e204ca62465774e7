// @module-tag P-460

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CodeKernel } from './code-kernel.js';
import { KernelPool } from './kernel-pool.js';

let pool: KernelPool;
/** Those that are idle, by who holds them. */
let idle: { holder: string; kernel: CodeKernel }[];

function open(most: number, isShared: boolean): void {
  idle = [];
  pool = new KernelPool({
    // None is started here.
    create: () => Promise.reject(new Error('not here')),
    ...{ most, isShared },
    makeRoom: async (holder) => {
      const at = idle.findIndex((one) => holder === undefined || one.holder === holder);
      const [first] = at < 0 ? [] : idle.splice(at, 1);
      if (first === undefined) return false;
      await pool.end(first.kernel);
      return true;
    },
  });
}
const takeIdle = async (holder: string): Promise<void> => {
  const kernel: CodeKernel = await pool.take({ holder, isIdle: () => idle.some((one) => one.kernel === kernel) });
  idle.push({ holder, kernel });
};
const refused = { code: 'limit_reached' };
beforeEach(() => open(8, true));
afterEach(() => pool.close());

it('end half a second after the right of who has them, whatever runs there or was left behind', { tags: ['P-644'] }, async () => {
  vi.useFakeTimers();
  const ends: (() => void)[] = [];
  const stopped: number[] = [];
  const take = (n: number): Promise<CodeKernel> =>
    pool.take({
      holder: 'one',
      untilWithdrawn: (end) => {
        ends[n] = end;
        return () => stopped.push(n);
      },
    });
  const [withdrawn, other] = [await take(0), await take(1)];
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(400);
  expect(withdrawn.isDead).toBe(false);
  await vi.advanceTimersByTimeAsync(100);
  expect([withdrawn.isDead, other.isDead, pool.countOf('one')]).toEqual([true, false, 1]);
  await pool.end(other);
  expect(stopped).toEqual([0, 1]);
  vi.useRealTimers();
});

describe('interpreters that several share', () => {
  it('go to one in three quarters of what the others leave, and to each in one', async () => {
    for (let n = 0; n < 6; n++) await pool.take({ holder: 'one' });
    await expect(pool.take({ holder: 'one' })).rejects.toMatchObject(refused);
    await pool.take({ holder: 'other' });
    await expect(pool.take({ holder: 'other' })).rejects.toMatchObject(refused);
    await pool.take({ holder: 'third' });
    await expect(pool.take({ holder: 'fourth' })).rejects.toMatchObject(refused);
  });

  it('are as many for one, whoever was idle in them before', async () => {
    for (let n = 0; n < 6; n++) await takeIdle('one');
    for (let n = 0; n < 6; n++) await pool.take({ holder: 'other' });
    expect([pool.countOf('one'), pool.countOf('other')]).toEqual([2, 6]);
    await expect(pool.take({ holder: 'other' })).rejects.toMatchObject(refused);
  });

  it('are not taken by calls that come together', async () => {
    const taken = await Promise.allSettled(Array.from({ length: 20 }, () => pool.take({ holder: 'one' })));
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(6);
    await pool.take({ holder: 'other' });
  });

  it('are one at least', async () => {
    open(1, true);
    await takeIdle('one');
    await pool.take({ holder: 'other' });
    await expect(pool.take({ holder: 'one' })).rejects.toMatchObject(refused);
  });
});

it('gives all interpreters to the only one there is', async () => {
  open(3, false);
  for (let n = 0; n < 3; n++) await pool.take({ holder: 'owner' });
  await expect(pool.take({ holder: 'owner' })).rejects.toThrow('All 3 interpreters run code');
});
