import fc from 'fast-check';
import { Chance } from './chance.js';
import { type Schedule, schedules } from './fault-schedule.js';
import type { Setting } from './plays.js';
import { SimulatedCluster } from './simulated-cluster.js';

export interface Outcome {
  seed: number;
  schedule: Schedule;
  problems: readonly string[];
  traceHash: string;
  trace: readonly string[];
  counts: ReadonlyMap<string, number>;
  virtualMs: number;
}

/** Runs one schedule: the same one gives the same outcome. */
export async function runSchedule(
  setting: Setting,
  schedule: Schedule,
  options: { seed?: number; keepsTrace?: boolean } = {},
): Promise<Outcome> {
  const { seed = schedule.seed, keepsTrace = false } = options;
  const cluster = new SimulatedCluster(schedule, { keepsTrace });
  await cluster.run(setting(cluster));
  const { problems, traceHash, trace, counts, now } = cluster.world;
  return { seed, schedule, problems, traceHash, trace, counts, virtualMs: now };
}

/** Makes the schedule of a seed and runs it. */
export async function runSeed(setting: Setting, seed: number, options: { keepsTrace?: boolean } = {}): Promise<Outcome> {
  const [schedule] = fc.sample(schedules, { seed: mixed(seed), numRuns: 1 });
  if (!schedule) throw new Error(`fast-check made no schedule of seed ${seed}.`);
  return await runSchedule(setting, schedule, { ...options, seed });
}

/** The smallest schedule near a failed one that fails as well. */
export async function shrink(setting: Setting, failed: Outcome): Promise<Outcome> {
  let smallest = failed;
  const property = fc.asyncProperty(schedules, async (schedule) => {
    const outcome = await runSchedule(setting, schedule, { seed: failed.seed });
    if (outcome.problems.length > 0) smallest = outcome;
    return outcome.problems.length === 0;
  });
  await fc.check(property, { seed: mixed(failed.seed), numRuns: 1, interruptAfterTimeLimit: 20_000 });
  return smallest;
}

/** Seeds that follow one another begin as differently as any. */
function mixed(seed: number): number {
  return new Chance(seed).word() | 0;
}

/** What a person needs to see of a failure, and to see it again. */
export function describeFailure({ seed, schedule, problems, traceHash }: Outcome, play: string): string {
  return [
    `Seed ${seed} failed: ${problems[0]}`,
    ...problems.slice(1).map((problem) => `  then ${problem}`),
    `  trace ${traceHash}; schedule ${JSON.stringify(schedule)}`,
    `  Replay it: npm run simulate -- 1 --play ${play} --seed ${seed} --trace`,
  ].join('\n');
}

/** Adds the counts of a run to those of all runs. */
export function addCounts(all: Map<string, number>, some: ReadonlyMap<string, number>): void {
  for (const [what, count] of some) all.set(what, (all.get(what) ?? 0) + count);
}
