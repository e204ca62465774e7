import { describe, expect, it } from 'vitest';
import { coreAndDeep } from '../support/core-and-deep.js';
import { planted, playOf, settingOf } from './plays.js';
import { addCounts, describeFailure, type Outcome, runSeed, shrink } from './simulate.js';

/** `npm run simulate` runs others, and more. */
const perPart = 63;
const parts = Array.from({ length: 32 }, (_, index) => index + 1);

describe('hubs in a simulated world', { timeout: 600_000 }, () => {
  for (const { cells, tags } of coreAndDeep(parts, (part) => part === 1))
    it.each(cells)(
      'keep what they promise in 63 schedules of faults (part %i of 32)',
      { tags: [...tags, 'P-526', 'P-527', 'P-519'] },
      async (part) => {
        const counts = new Map<string, number>();
        const first = (part - 1) * perPart + 1;
        for (let seed = first; seed < first + perPart; seed += 1) {
          const outcome = await runSeed(settingOf(playOf(seed)), seed);
          if (outcome.problems.length > 0) expect.fail(await explain(outcome));
          addCounts(counts, outcome.counts);
        }
        // A world in which nothing goes wrong would prove nothing.
        for (const what of ['killed', 'drained', 'paused', 'cut off', 'all cut off', 'clock set'])
          expect(counts.get(`faults: ${what}`), what).toBeGreaterThan(6);
        for (const what of ['answers lost', 'refused', 'requests lost', 'told twice', 'conflicts', 'take-overs'])
          expect(counts.get(what), what).toBeGreaterThan(12);
        // Half of the calls follow what they are for, and are made again where they were not started.
        for (const what of ['calls: not started', 'handed over']) expect(counts.get(what), what).toBeGreaterThan(0);
      },
    );

  it('go the same way again with the same seed, and another with another', async () => {
    for (const seed of [4, 5, 6, 7]) {
      const setting = settingOf(playOf(seed));
      const [one, again, other] = [await runSeed(setting, seed), await runSeed(setting, seed), await runSeed(setting, seed + 100)];
      expect(again.traceHash).toBe(one.traceHash);
      expect(other.traceHash).not.toBe(one.traceHash);
    }
  });

  it.each(Object.entries(planted))(
    'fail in under 1,000 schedules with a fault planted (%s), and the same way again',
    { tags: ['deep'] },
    async (name, setting) => {
      const failed = await findFailure(name, 1_000);
      const again = await runSeed(setting, failed.seed, { keepsTrace: true });
      expect(again.problems).toEqual(failed.problems);
      expect(again.traceHash).toBe(failed.traceHash);
      expect(again.trace.some((line) => line.includes('PROBLEM'))).toBe(true);
      expect(describeFailure(failed, name)).toContain(`npm run simulate -- 1 --play ${name} --seed ${failed.seed} --trace`);
    },
  );

  it('have a failed schedule made smaller', { tags: ['deep'] }, async () => {
    const name = 'held-whatever-the-clock-says';
    const failed = await findFailure(name, 1_000);
    const smallest = await shrink(settingOf(name), failed);
    expect(smallest.problems).not.toEqual([]);
    expect(smallest.schedule.faults.length).toBeLessThanOrEqual(failed.schedule.faults.length);
    expect(smallest.schedule.clocks.length).toBe(2);
  });
});

async function findFailure(play: string, most: number): Promise<Outcome> {
  for (let seed = 1; seed <= most; seed += 1) {
    const outcome = await runSeed(settingOf(play), seed);
    if (outcome.problems.length > 0) return outcome;
  }
  return expect.fail(`What was planted was not found in ${most} schedules.`);
}

async function explain(outcome: Outcome): Promise<string> {
  const play = playOf(outcome.seed);
  const smallest = await shrink(settingOf(play), outcome);
  return `${describeFailure(outcome, play)}\nThe smallest schedule found that fails too: ${JSON.stringify(smallest.schedule)}\n${smallest.problems[0]}`;
}
