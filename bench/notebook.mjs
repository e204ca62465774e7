// Measures the built-in notebook: how soon it is there, how fast an agent runs cells, what it holds. `npm run bench -- notebook`
//   node bench/notebook.mjs [--quick] [--rounds N] [--json FILE] [--only rates|ready|starts|memory|bytes]... [--also FILE]
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { bundle } from '../packages/page/scripts/bundle.mjs';
import { measureFirstRuns, measureRates } from './lib/notebook-rates.mjs';
import { measureStarts } from './lib/notebook-starts.mjs';
import { measureMemory, measureWindows } from './lib/notebook-windows.mjs';
import { writeResults } from './lib/results-file.mjs';
import { toNotebookMarkdown } from './notebook-report.mjs';

const all = ['rates', 'ready', 'starts', 'memory', 'bytes'];

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`);
  process.exit(1);
}
process.exit(0);

async function main() {
  const { values } = parseArgs({
    args: process.argv.slice(2).filter((arg) => arg !== 'notebook'),
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '9' },
      json: { type: 'string' },
      only: { type: 'string', multiple: true, default: all },
      also: { type: 'string' },
    },
  });
  const { quick, only } = values;
  const rounds = quick ? 2 : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100)
    throw new Error(`--rounds "${values.rounds}" must be a whole number from 1 to 100.`);
  stopAfterMinutes(5 + rounds);
  const results = {
    date: new Date().toISOString().slice(0, 10),
    machine: { platform: `${process.platform} ${process.arch}`, cores: availableParallelism(), node: process.version, load: loadavg()[0] },
    rounds,
  };
  const steps = {
    rates: () => measureRates(rounds, quick ? { turns: 2, turnMs: 400, warmUpMs: 3000 } : { turns: 4, turnMs: 400, warmUpMs: 4000 }),
    ready: async () => ({ ...(await measureFirstRuns(rounds)), windowMs: await measureWindows(rounds) }),
    starts: () => measureStarts(rounds, values.also),
    memory: () => measureMemory(quick ? 1 : 3),
    bytes: measureBytes,
  };
  for (const name of all.filter((step) => only.includes(step))) {
    process.stderr.write(`bench: ${name}\n`);
    results[name] = await steps[name]();
  }
  const report = toNotebookMarkdown(results);
  process.stdout.write(`\n${report}`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 1)}\n`);
  // What stands in results.md is a whole run.
  if (!quick && values.also === undefined && all.every((step) => only.includes(step))) writeResults('notebook', report);
}

/** The page library as a web page loads it: one minified module. */
async function measureBytes() {
  const text = await bundle();
  return { minified: Buffer.byteLength(text), gzip: gzipSync(text, { level: 9 }).length };
}

/** Whatever hangs, the bench ends; ending ends its children. */
function stopAfterMinutes(minutes) {
  setTimeout(() => {
    process.stderr.write(`bench: not done after ${minutes} minutes; given up.\n`);
    process.exit(1);
  }, minutes * 60_000).unref();
}
