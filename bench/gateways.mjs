// Measures the tool proxy beside the bare limits and other gateways. `npm run bench -- gateways`
//   node bench/gateways.mjs [--quick] [--rounds N] [--json FILE] [--only calls|payload|sandboxes|cold]... [--target TEXT]...
// The peers are installed from npm into bench/.peers, which git ignores; one that cannot be is left out, with the reason.
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { toAimRows, toAimsMarkdown } from './aims.mjs';
import { buildAll, measureCalls, measureColdStarts, measurePayload, measureSandboxes, startAll } from './gateways/measure.mjs';
import { versions } from './gateways/peers.mjs';
import { toGatewaysMarkdown } from './gateways/report.mjs';
import * as table from './gateways/targets.mjs';
import { writeResults } from './lib/results-file.mjs';

const all = ['calls', 'payload', 'sandboxes', 'cold'];

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
      rounds: { type: 'string', default: '7' },
      json: { type: 'string' },
      only: { type: 'string', multiple: true, default: all },
      target: { type: 'string', multiple: true },
    },
  });
  const { quick, only, target: wanted } = values;
  const rounds = quick ? 2 : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100)
    throw new Error(`--rounds "${values.rounds}" must be a whole number from 1 to 100.`);
  const targets = table.targets.filter(({ name }) => wanted === undefined || wanted.some((text) => name.includes(text)));
  const gateways = targets.filter(({ kind }) => kind !== 'limit');
  const skipped = new Map();
  await buildAll(targets, skipped);
  stopAfterMinutes(6 + rounds);
  const results = {
    date: new Date().toISOString().slice(0, 10),
    machine: { platform: `${process.platform} ${process.arch}`, cores: availableParallelism(), node: process.version, load: loadavg()[0] },
    versions,
    rounds,
  };

  if (only.includes('cold'))
    results.cold = await measureColdStarts([...targets.filter(isTwin), ...gateways], { rounds: Math.min(rounds, 5), skipped });
  if (only.includes('sandboxes')) {
    results.rss = await measureSandboxes([...targets.filter(isTwin), ...gateways], { rounds: quick ? 1 : 2, quick, skipped });
  }
  if (only.includes('calls') || only.includes('payload')) {
    const started = await startAll(targets, skipped);
    if (only.includes('calls')) results.calls = await measureCalls(started, { rounds, quick, skipped });
    if (only.includes('payload')) {
      const close = started.filter(({ target }) => target.kind === 'ours' || target.isClose);
      results.mb9 = await measurePayload(close, { size: 9_000_000, rounds, skipped });
      // Last: some peers do not survive it.
      const takers = started.filter(({ target }) => target.isUnchecked !== true);
      results.payload = await measurePayload(takers, { size: 10_000_000, rounds: Math.min(rounds, 5), skipped });
    }
    await Promise.all(started.map((gateway) => gateway.end()));
  }
  results.skipped = Object.fromEntries(skipped);

  const report = toGatewaysMarkdown(results);
  process.stdout.write(`\n${report}\n${toAimsMarkdown(toAimRows('gateways', results))}`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 1)}\n`);
  // What stands in results.md is a whole run.
  if (!quick && wanted === undefined && all.every((step) => only.includes(step))) writeResults('gateways', report, results);
}

function isTwin(target) {
  return target === table.twin;
}

/** Whatever hangs, the bench ends; ending ends its children. */
function stopAfterMinutes(minutes) {
  setTimeout(() => {
    process.stderr.write(`bench: not done after ${minutes} minutes; given up.\n`);
    process.exit(1);
  }, minutes * 60_000).unref();
}
