// Measures the generated packages: making them, importing from them, calling through them. `npm run bench -- bindings`
//   node bench/bindings.mjs [--quick] [--rounds N] [--json FILE] [--only writing|imports|calls]...
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { measureCalls, measureImports, measureWriting } from './bindings/measure.mjs';
import { toBindingsMarkdown } from './bindings/report.mjs';
import { writeResults } from './lib/results-file.mjs';

const all = ['writing', 'imports', 'calls'];

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`);
  process.exit(1);
}
process.exit(0);

async function main() {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '9' },
      json: { type: 'string' },
      only: { type: 'string', multiple: true, default: all },
    },
  });
  const { quick, only } = values;
  const rounds = quick ? 2 : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100)
    throw new Error(`--rounds "${values.rounds}" must be a whole number from 1 to 100.`);
  stopAfterMinutes(5 + 2 * rounds);
  const results = {
    date: new Date().toISOString().slice(0, 10),
    machine: { platform: `${process.platform} ${process.arch}`, cores: availableParallelism(), node: process.version, load: loadavg()[0] },
    rounds,
  };
  const steps = {
    // Ten thousand files take their time.
    writing: () => measureWriting(Math.min(rounds, 3), quick ? [1000] : [1000, 10_000]),
    imports: () => measureImports(rounds),
    calls: () => measureCalls(rounds, quick ? { turns: 4, calls: 32 } : { turns: 8, calls: 64 }),
  };
  for (const name of all.filter((step) => only.includes(step))) {
    process.stderr.write(`bench: ${name}\n`);
    results[name] = await steps[name]();
  }
  const report = toBindingsMarkdown(results);
  process.stdout.write(`\n${report}`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 1)}\n`);
  // What stands in results.md is a whole run.
  if (!quick && all.every((step) => only.includes(step))) writeResults('bindings', report);
}

/** Whatever hangs, the bench ends; ending ends its children. */
function stopAfterMinutes(minutes) {
  setTimeout(() => {
    process.stderr.write(`bench: not done after ${minutes} minutes; given up.\n`);
    process.exit(1);
  }, minutes * 60_000).unref();
}
