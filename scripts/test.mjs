// npm test: sets up what is missing, runs vitest with the arguments given, and ends with the line
// `tests: N passed, N failed, N skipped`. The line is printed here, after vitest has ended: nothing can come behind it.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closingLine, readCounts } from './closing-line-reporter.mjs';
import { leftAfterRun, notChecked } from './leftovers/after-run.mjs';
import { root, runMain, runTool, StepFailed } from './run.mjs';
import { setup } from './setup.mjs';

await runMain(import.meta.url, async (args) => {
  const folder = mkdtempSync(join(tmpdir(), 'nb-'));
  try {
    return await runTests(args, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

async function runTests(args, folder) {
  const { chromium } = await ready();
  if (chromium === false) return 1;
  const countsFile = join(folder, 'counts.json');
  // Whatever a test, or what it started, puts into the folder for temporary files.
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  const isAskedFor = (name) => args.some((word) => word.includes(name));
  const reporters = ['--reporter=default', '--reporter=./scripts/closing-line-reporter.mjs'];
  const env = {
    NOTEBRIDGE_TEST_COUNTS: countsFile,
    TMPDIR: temporary,
    // Is of these very sources now: each test file with a window would bundle it for itself.
    NOTEBRIDGE_BUILT_UI: join(root, 'packages/notebook/dist/ui'),
    ...(chromium ? { CHROMIUM_PATH: chromium } : {}),
    // Who asks for them gets each combination of the conformance suite, each round of the questions that cross, and each drawing of what is hostile.
    ...Object.fromEntries(['conformance', 'questions', 'hostile-outputs'].filter(isAskedFor).map((name) => [variableOf(name), 'whole'])),
    // A real collector, and Helm, take minutes to build: whoever asks for them by name gets them.
    ...Object.fromEntries(['collector', 'chart'].filter(isAskedFor).map((name) => [variableOf(name), 'build'])),
  };
  const { code } = await runTool('vitest', 'vitest', ['run', ...reporters, ...args], { show: true, env });
  const counts = readCounts(countsFile);
  const left = leftAfterRun(temporary);
  for (const each of left) process.stdout.write(`left behind by the run: ${each}\n`);
  process.stdout.write(notChecked());
  counts.failed += left.length;
  process.stdout.write(`${closingLine(counts)}\n`);
  return code === 0 && counts.failed > 0 ? 1 : code;
}

function variableOf(name) {
  return `NOTEBRIDGE_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** A set-up that fails counts as one failed test: a closing line without a failure would read as success. */
async function ready() {
  try {
    return await setup({ chromium: true });
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    process.stdout.write(`\n${error.message}\n\n${closingLine({ passed: 0, failed: 1, skipped: 0 })}\n`);
    return { chromium: false };
  }
}
