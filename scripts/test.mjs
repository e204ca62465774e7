// npm test: sets up what the tests need that are asked for, runs them with vitest, and ends with the line
// `tests: N passed, N failed, N skipped`. The line is printed here, after vitest has ended: nothing can come behind it.
//
//     npm test                    the core: it proves a change in minutes. With CI=true one fifth of the deep tests follows
//     npm test -- PATTERN         all tests of the files whose path holds the pattern, deep ones too
//     npm run test:all            all tests; writes what came of them to test/last-full-run.json
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJson, root, run, runMain, runTool, StepFailed } from './run.mjs';
import { setup } from './setup.mjs';
import { closingLine, readCounts } from './tests/closing-line-reporter.mjs';
import { namedFiles, testFiles } from './tests/files.mjs';
import { leftAfterRun, notChecked } from './tests/leftovers/after-run.mjs';
import { deepFiles, nextShard, shards } from './tests/sets.mjs';

const lastFullRun = 'test/last-full-run.json';
/** On CI no deep file is begun after so long; the slowest of them takes some five minutes. */
const beginDeepWithinMs = 15 * 60_000;

await runMain(import.meta.url, async (args) => {
  const startMs = Date.now();
  const isAll = args[0] === '--all';
  const given = isAll ? args.slice(1) : args;
  const words = given.filter((word) => !word.startsWith('-'));
  if (isAll && words.length > 0)
    throw new StepFailed(`"npm run test:all" runs everything, so it takes no pattern. For "${words[0]}": npm test -- ${words[0]}`);
  const set = isAll || words.length > 0 ? 'all' : 'core';
  const files = namedFiles(testFiles(), words).filter(({ isDeep }) => set === 'all' || !isDeep);
  // What ships is tested with what ships: the server that is ready to run is of an older version.
  if (isAll) process.env.NOTEBRIDGE_NATS ??= 'go';
  const chromium = await ready(new Set(files.flatMap(({ needs }) => needs)));
  if (chromium === false) return 1;
  const results = [await runTests(given, { set, chromium })];
  if (set === 'core' && process.env.CI === 'true') results.push(await runDeep(given, startMs + beginDeepWithinMs, chromium));
  const counts = sum(results.map((each) => each.counts));
  if (isAll) await keep(counts, Date.now() - startMs);
  process.stdout.write(`${closingLine(counts)}\n`);
  return counts.failed > 0 ? 1 : Math.max(...results.map(({ code }) => code));
});

/** One fifth of the deep tests, and those that belong to what has changed since all of them ran. */
async function runDeep(args, until, chromium) {
  const shard = nextShard();
  const { inTurn, touched } = deepFiles(shard, await commitOfLastFullRun());
  process.stdout.write(
    `\ndeep tests: part ${shard + 1} of ${shards} (${inTurn.length} files), and ${touched.length} files of what has changed\n`,
  );
  const paths = [...inTurn, ...touched].map(({ path }) => path);
  const result = await runTests(args, {
    set: 'deep',
    chromium,
    NOTEBRIDGE_DEEP_FILES: JSON.stringify(paths),
    NOTEBRIDGE_TESTS_UNTIL: String(until),
  });
  const { notBegun } = result.counts;
  process.stdout.write(
    notBegun.length === 0
      ? 'deep tests: all of these files were begun in time\n'
      : `deep tests: ${notBegun.length} of these files were not begun, because the time was over: ${notBegun.join(', ')}\n`,
  );
  return result;
}

/** Runs vitest, and looks for what the run has left behind. */
async function runTests(args, { set, chromium, ...env }) {
  const folder = mkdtempSync(join(tmpdir(), 'nb-'));
  try {
    const countsFile = join(folder, 'counts.json');
    // Whatever a test, or what it started, puts into the folder for temporary files.
    const temporary = join(folder, 'tmp');
    mkdirSync(temporary);
    const reporters = ['--reporter=default', '--reporter=./scripts/tests/closing-line-reporter.mjs'];
    const isAskedFor = (name) => args.some((word) => word.includes(name));
    const { code } = await runTool('vitest', 'vitest', ['run', ...reporters, ...args], {
      show: true,
      env: {
        NOTEBRIDGE_TESTS: set,
        NOTEBRIDGE_TEST_COUNTS: countsFile,
        TMPDIR: temporary,
        // Is of these very sources now: each test file with a window would bundle it for itself.
        NOTEBRIDGE_BUILT_UI: join(root, 'packages/notebook/dist/ui'),
        ...(chromium ? { CHROMIUM_PATH: chromium } : {}),
        // A real collector, and Helm, take minutes to build: whoever asks for them by name gets them.
        ...Object.fromEntries(['collector', 'chart'].filter(isAskedFor).map((name) => [`NOTEBRIDGE_${name.toUpperCase()}`, 'build'])),
        ...env,
      },
    });
    const counts = readCounts(countsFile);
    const left = leftAfterRun(temporary);
    for (const each of left) process.stdout.write(`left behind by the run: ${each}\n`);
    process.stdout.write(notChecked());
    if (counts.deselected > 0) process.stdout.write(`not in this set: ${counts.deselected} tests of these files\n`);
    return { code, counts: { ...counts, failed: counts.failed + left.length } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A set-up that fails counts as one failed test: a closing line without a failure would read as success. */
async function ready(needs) {
  try {
    return (await setup({ needs })).chromium;
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    process.stdout.write(`\n${error.message}\n\n${closingLine({ passed: 0, failed: 1, skipped: 0 })}\n`);
    return false;
  }
}

function sum(all) {
  const total = (name) => all.reduce((so, counts) => so + counts[name], 0);
  return { passed: total('passed'), failed: total('failed'), skipped: total('skipped') };
}

/** Undefined where none is known here, as in a shallow clone: then what the last commit changed counts. */
async function commitOfLastFullRun() {
  const commit = existsSync(join(root, lastFullRun)) ? readJson(join(root, lastFullRun)).commit : 'none';
  const isKnown = (await run('git', ['cat-file', '-e', `${commit}^{commit}`])).code === 0;
  if (isKnown) return commit;
  return (await run('git', ['rev-parse', '--verify', '--quiet', 'HEAD~1'])).code === 0 ? 'HEAD~1' : undefined;
}

async function keep(counts, durationMs) {
  const { output } = await run('git', ['rev-parse', 'HEAD']);
  const changed = (await run('git', ['status', '--porcelain', '--untracked-files=no'])).output.trim() !== '';
  const kept = {
    commit: output.trim(),
    changed,
    date: new Date().toISOString().slice(0, 10),
    minutes: Math.round(durationMs / 60_000),
    ...counts,
  };
  writeFileSync(join(root, lastFullRun), `${JSON.stringify(kept, null, 2)}\n`);
}
