// Runs the schedules of some seeds and says how it went, as lines of JSON: for scripts/simulate.mjs, which runs several of these.
import { playOf, settingOf } from './plays.js';
import { addCounts, describeFailure, type Outcome, runSeed, shrink } from './simulate.js';

const [name = '', first = '1', step = '1', count = '1', ...flags] = process.argv.slice(2);
const play = (seed: number) => (name === 'each' ? playOf(seed) : name);

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
let current = Number(first);
// What the code under test left to itself is a problem of the schedule that runs.
process.on('unhandledRejection', (error) => {
  say({ failure: `Seed ${current} failed: a rejection that nobody handled: ${error instanceof Error ? error.stack : error}` });
  process.exit(1);
});

const counts = new Map<string, number>();
let failed: Outcome | undefined;
let virtualMs = 0;
let schedules = 0;
for (; schedules < Number(count) && !failed; schedules += 1, current += Number(step)) {
  const outcome = await runSeed(settingOf(play(current)), current, { keepsTrace: flags.includes('--trace') });
  addCounts(counts, outcome.counts);
  virtualMs += outcome.virtualMs;
  if (flags.includes('--trace')) for (const line of outcome.trace) say({ line });
  if (flags.includes('--trace')) say({ line: `trace ${outcome.traceHash}` });
  if (outcome.problems.length > 0) failed = outcome;
  if (schedules % 100 === 99) say({ progress: 100 });
}
say({ schedules, virtualMs, counts: Object.fromEntries(counts) });
if (failed) {
  say({ failure: describeFailure(failed, play(failed.seed)) });
  const smallest = await shrink(settingOf(play(failed.seed)), failed);
  say({ failure: `The smallest schedule found that fails too: ${JSON.stringify(smallest.schedule)}\n  ${smallest.problems[0]}` });
}
