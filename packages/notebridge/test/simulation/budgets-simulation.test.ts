// @module-tag P-597

import { describe, expect, it } from 'vitest';
import { roundsOf } from '../support/core-and-deep.js';
import { BudgetPlay, type PlantedInBudgets } from './budgets.js';
import type { Fault } from './fault-schedule.js';
import { addCounts, describeFailure, runSchedule, runSeed, shrink } from './simulate.js';
import type { SimulatedCluster } from './simulated-cluster.js';
import { calm } from './weather.js';

const play = (cluster: SimulatedCluster): BudgetPlay => new BudgetPlay(cluster);
const seeds = roundsOf(40);

describe('budgets and revocation, simulated', { timeout: 600_000 }, () => {
  it('hold over hubs that are killed, paused and cut off, and a store that loses answers', { tags: ['P-548'] }, async () => {
    const counts = new Map<string, number>();
    for (let seed = 1; seed <= seeds; seed += 1) {
      const outcome = await runSeed(play, seed);
      if (outcome.problems.length > 0) expect.fail(describeFailure(await shrink(play, outcome), 'budgets'));
      addCounts(counts, outcome.counts);
    }
    expect(counts.get('calls made')).toBeGreaterThan(25 * seeds);
    expect(counts.get('grants revoked')).toBeGreaterThan(0);
  });

  it.each([90084414])('hold in a schedule that failed once (seed %i)', async (seed) => {
    expect((await runSeed(play, seed)).problems).toEqual([]);
  });

  it.each([1.001, 0.999])('lose what a hub gives up after five seconds by its own clock, which goes %d times as fast', async (rate) => {
    const first = { offsetMs: 0, rate };
    // It takes blocks, is cut off, gives them back in vain, and is told to end.
    const faults: Fault[] = [
      { kind: 'cut off', hub: 0, atMs: 4_000, forMs: 46_000 },
      { kind: 'drained', hub: 0, atMs: 16_000, forMs: 30_000 },
    ];
    const { problems, counts } = await runSchedule(play, { seed: 1, clocks: [first, { offsetMs: 0, rate: 1 }], weather: calm, faults });
    expect(problems).toEqual([]);
    expect(counts.get('given up at the end')).toBeGreaterThan(0);
    expect(counts.get('handed over')).toBe(1);
  });

  it('go the same way again with the same seed', async () => {
    const [first, second] = [await runSeed(play, 7), await runSeed(play, 7)];
    expect(second.traceHash).toBe(first.traceHash);
  });

  it.each<PlantedInBudgets>(['writes over whatever is there', 'believes its watch', 'never gives a block back'])(
    'are found to be broken by a hub that %s, within a thousand schedules',
    async (planted) => {
      for (let seed = 1; seed <= 1000; seed += 1) {
        const { problems } = await runSeed((cluster) => new BudgetPlay(cluster, { planted }), seed);
        if (problems.length > 0) return;
      }
      expect.fail('nothing was found');
    },
  );
});
