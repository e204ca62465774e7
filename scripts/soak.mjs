// npm run soak -- MINUTES [--hubs 1|3] [--seed N]: loads hubs while they are killed, paused, cut off and lose a node of NATS, and prints a report.
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain, runTool, StepFailed } from './run.mjs';
import { setup } from './setup.mjs';

await runMain(import.meta.url, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { hubs: { type: 'string', default: '3' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } },
  });
  const [minutes, hubs, seed] = [positionals[0] ?? '5', values.hubs, values.seed].map(Number);
  if (!(minutes > 0 && Number.isInteger(hubs) && hubs > 0 && Number.isInteger(seed)))
    throw new StepFailed('Say how long: npm run soak -- MINUTES [--hubs NUMBER] [--seed NUMBER]');
  await setup({ needs: new Set(['nats', 'bubblewrap', 'libfaketime']) });
  const report = join(tmpdir(), `notebridge-soak-${seed}.json`);
  const asked = JSON.stringify({ seconds: minutes * 60, hubs, seed, report });
  const { code } = await runTool('vitest', 'vitest', ['run', 'packages/notebridge/test/soak/soak.test.ts'], {
    show: true,
    env: { NOTEBRIDGE_SOAK: asked },
  });
  try {
    print(JSON.parse(readFileSync(report, 'utf8')));
    process.stdout.write(`Every call: ${report}.calls\n`);
    rmSync(report);
  } catch {
    process.stdout.write('There is no report: the load did not come to its end, or the soak was skipped.\n');
  }
  return code;
});

function print({ seed, hubs, seconds, calls, executed, grants, counts, faults, broken }) {
  const lines = [
    `${hubs} hub${hubs === 1 ? '' : 's'}, ${seconds} s, seed ${seed}: ${calls} calls, ${executed} executions, ${grants} grants`,
    ...Object.entries(counts).flatMap(([by, row]) =>
      Object.entries(row).map(([what, count]) => `  ${by.padEnd(10)} ${String(count).padStart(7)}  ${what}`),
    ),
    `Faults: ${faults.length}`,
    ...faults.map(
      ({ kind, at, fromSeconds, forSeconds }) =>
        `  ${fromSeconds.toFixed(1).padStart(7)} s  ${kind} of n${at + 1} for ${forSeconds.toFixed(1)} s`,
    ),
    broken.length === 0 ? 'All promises were kept.' : `Broken: ${broken.length}`,
    ...broken.map((line) => `  ${line}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
