// Measures the crossing agent → page: Notebridge beside the bare relay. README.md says how, results.md what came out.
//   node bench/crossing.mjs [--rounds N] [--quick] [--json FILE] [--also FILE]... [--only bursts|cold|idle]...
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { toAimRows, toAimsMarkdown } from './aims.mjs';
import { burst, startCrossing, toSummary } from './lib/crossing.mjs';
import { writeResults } from './lib/results-file.mjs';
import { measureColdStarts, measureIdle } from './lib/starts.mjs';
import { shuffle } from './lib/stats.mjs';
import { notebridge, relay, relayEach } from './lib/targets.mjs';
import { toMarkdown } from './report.mjs';

const echo = (agent) => agent.echo();
const payload = (size) => (agent) => agent.payload(size);

/** What is measured in each round: how long one turn takes, and how often each target has its turn. */
const bursts = {
  latency: { call: echo, concurrency: 1, ms: 250, turns: 4, maxCalls: 20_000 },
  at16: { call: echo, concurrency: 16, ms: 250, turns: 6, maxCalls: 100_000 },
  at64: { call: echo, concurrency: 64, ms: 250, turns: 6, maxCalls: 100_000 },
  kb64: { call: payload(64 * 1024), concurrency: 1, ms: 250, turns: 4, maxCalls: 2000 },
  mb1: { call: payload(1024 * 1024), concurrency: 1, ms: 500, turns: 3, maxCalls: 200 },
};

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`);
  process.exit(1);
}
process.exit(0);

async function main() {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      also: { type: 'string', multiple: true, default: [] },
      only: { type: 'string', multiple: true, default: ['bursts', 'cold', 'idle'] },
    },
  });
  const { quick, only } = values;
  const rounds = parseRounds(values.rounds, quick ? 2 : 9);
  stopAfterMinutes(5 + rounds * (1 + values.also.length));
  const programs = [notebridge(), ...values.also.map((program, index) => notebridge(program, `notebridge-${index + 2}`))];

  const results = {
    date: new Date().toISOString().slice(0, 10),
    // No paths: what is written may be committed.
    command: ['npm run bench -- crossing', ...(values.rounds === undefined ? [] : ['--rounds', values.rounds])].join(' '),
    machine: { platform: `${process.platform} ${process.arch}`, cores: availableParallelism(), node: process.version, load: loadavg()[0] },
    rounds,
    programs: programs.map(({ name }) => name),
  };
  if (only.includes('bursts')) results.bursts = await measureBursts([relay, relayEach, ...programs], rounds, quick);
  if (only.includes('cold')) results.coldMs = await measureColdStarts(programs, quick ? 3 : Math.max(15, rounds));
  if (only.includes('idle')) results.idleMb = await measureIdle([relay, ...programs], quick ? 1 : 3);

  const report = toMarkdown(results);
  process.stdout.write(`\n${report}\n${toAimsMarkdown(toAimRows('crossing', results))}`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 1)}\n`);
  // What stands in results.md is a whole run, of this checkout alone.
  if (!quick && only.length === 3 && values.also.length === 0) writeResults('crossing', report, results);
}

/** All targets are alive at once, and take turns so short that whatever else the machine does hits them alike. */
async function measureBursts(targets, rounds, quick) {
  const crossings = [];
  for (const target of targets) crossings.push(await startCrossing(target));
  say('warming up');
  for (const crossing of crossings) {
    await burst(crossing, { ...bursts.at64, ms: quick ? 500 : 2000 });
    await burst(crossing, { ...bursts.mb1, ms: 500 });
  }
  const measured = Object.fromEntries(Object.keys(bursts).map((kind) => [kind, Object.fromEntries(targets.map(({ name }) => [name, []]))]));
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    for (const [kind, options] of shuffle(Object.entries(bursts))) {
      const turns = new Map(crossings.map((crossing) => [crossing, []]));
      for (let turn = 0; turn < (quick ? 2 : options.turns); turn++) {
        for (const crossing of shuffle(crossings)) turns.get(crossing).push(await burst(crossing, options));
      }
      for (const [{ name }, bursts] of turns) measured[kind][name].push(toSummary(bursts));
    }
  }
  for (const crossing of crossings) await crossing.end();
  return measured;
}

function parseRounds(text, fallback) {
  const rounds = text === undefined ? fallback : Number(text);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000)
    throw new Error(`--rounds "${text}" must be a whole number from 1 to 1000.`);
  return rounds;
}

/** Whatever hangs, the bench ends; ending ends its children. */
function stopAfterMinutes(minutes) {
  setTimeout(() => {
    process.stderr.write(`bench: not done after ${minutes} minutes; given up.\n`);
    process.exit(1);
  }, minutes * 60_000).unref();
}

function say(text) {
  process.stderr.write(`bench: ${text}\n`);
}
