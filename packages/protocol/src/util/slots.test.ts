import { describe, expect, it } from 'vitest';
import { Slots } from './slots.js';

describe('Slots', () => {
  it('lets no more than so many run at once, in order, and goes on after one that fails', async () => {
    const slots = new Slots(2);
    const begun: number[] = [];
    let running = 0;
    let most = 0;
    const work = (number: number) =>
      slots.run(async () => {
        begun.push(number);
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        if (number === 1) throw new Error('no');
        return number;
      });
    const results = await Promise.allSettled([0, 1, 2, 3, 4].map(work));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    expect(most).toBe(2);
    expect(await work(5)).toBe(5);
  });
});
