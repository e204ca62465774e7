// A vitest reporter: counts the results for the closing line of `npm test`, and lists what was skipped with its reason, every test that
// passed only when it was tried again, with its first failure, and last, where a log that is cut still has it, everything that failed.
// Give the reason where the test skips: `test(name, ({ skip }) => { skip(!hasPython, 'needs Python 3'); ... })`, or in a `beforeEach`
// for a whole suite; or, where its hooks could not run either, in the name of a suite that is skipped, behind a colon. A skip without a reason fails the run; that is how tests are forgotten.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readJson } from '../run.mjs';
import { leftAfterRun } from './leftovers/after-run.mjs';

/** The one test of a file for which no time was left (`runner.mjs`). */
const notBegun = 'is not begun';

export default class ClosingLineReporter {
  #filtered = false;
  /** The tags of a test say whether it belongs to the set that runs (`sets.mjs`). */
  #isChosen = () => true;

  onInit(vitest) {
    this.#filtered = Boolean(vitest.config.testNamePattern);
    const [filter] = vitest.config.tagsFilter ?? [];
    if (filter === '!deep') this.#isChosen = ({ tags }) => !tags.includes('deep');
    if (filter === 'deep') this.#isChosen = ({ tags }) => tags.includes('deep');
    if (process.env.NOTEBRIDGE_TEST_COUNTS) endWithParent(dirname(process.env.NOTEBRIDGE_TEST_COUNTS));
  }

  onTestRunEnd(modules, unhandledErrors) {
    const all = modules.flatMap((module) => [...module.children.allTests()]);
    const tests = all.filter((test) => this.#isChosen(test));
    const having = (state) => tests.filter((test) => test.result().state === state);
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    // A file that can't be loaded, a hook that throws and a rejection that nobody handles have no test to count.
    const failedSuites = suites.filter((suite) => suite.errors().length > 0);
    // A test that never ended: the run was stopped, or its process died.
    const unfinished = having('pending');
    const unexplained = this.#filtered ? [] : having('skipped').filter((test) => !reasonOf(test));
    if (!this.#filtered) listSkips(having('skipped'));
    listRetries(tests);
    if (unexplained.length > 0) {
      process.stdout.write(`${unexplained.length} skipped without a reason, which counts as failed: say why with skip('reason').\n`);
    }
    listFailures([...failedSuites, ...having('failed')], unfinished, unhandledErrors);
    const counts = {
      passed: having('passed').length,
      failed: having('failed').length + failedSuites.length + unhandledErrors.length + unfinished.length + unexplained.length,
      skipped: having('skipped').length - unexplained.length,
      deselected: all.length - tests.length,
      notBegun: having('skipped')
        .filter((test) => test.name === notBegun)
        .map(({ module }) => module.relativeModuleId),
    };
    if (process.env.NOTEBRIDGE_TEST_COUNTS) writeFileSync(process.env.NOTEBRIDGE_TEST_COUNTS, JSON.stringify(counts));
  }
}

/** Nobody is told that `npm test` was killed: without this its tests run on, and its folder stays. */
function endWithParent(folder) {
  const parent = process.ppid;
  const look = () => {
    if (process.ppid === parent) return;
    leftAfterRun(join(folder, 'tmp'));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    process.exit(1);
  };
  setInterval(look, 1000).unref();
}

/** What the reporter wrote; a vitest that ended without writing counts as one failure. */
export function readCounts(file) {
  return existsSync(file) ? readJson(file) : { passed: 0, failed: 1, skipped: 0, deselected: 0, notBegun: [] };
}

export function closingLine({ passed, failed, skipped }) {
  return `tests: ${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** One line for the tests of a file that are skipped for one reason. */
function listSkips(tests) {
  const alike = new Map();
  for (const test of tests) {
    const key = JSON.stringify([test.module.relativeModuleId, reasonOf(test) ?? 'no reason given']);
    alike.set(key, [...(alike.get(key) ?? []), test]);
  }
  for (const [key, same] of alike) {
    const [file, reason] = JSON.parse(key);
    const which = same.length === 1 ? ` > ${same[0].fullName}` : `, ${same.length} tests`;
    process.stdout.write(`skipped: ${file}${which}: ${reason}\n`);
  }
}

function listFailures(failed, unfinished, unhandledErrors) {
  for (const each of failed) {
    const errors = each.type === 'test' ? each.result().errors : each.errors();
    process.stdout.write(`failed: ${whereOf(each)}: ${briefly(errors?.[0])}\n`);
  }
  for (const test of unfinished) process.stdout.write(`failed: ${whereOf(test)}: never ended\n`);
  for (const error of unhandledErrors) process.stdout.write(`failed: nobody handled: ${briefly(error)}\n`);
}

function whereOf(each) {
  return each.type === 'module' ? each.relativeModuleId : `${each.module.relativeModuleId} > ${each.fullName}`;
}

function briefly(error) {
  return (error?.message ?? 'without a message').replaceAll(/\s+/g, ' ').slice(0, 1000);
}

function listRetries(tests) {
  for (const test of tests) {
    const { retryCount = 0 } = test.diagnostic() ?? {};
    if (retryCount === 0) continue;
    const [first] = test.result().errors ?? [];
    process.stdout.write(`tried again: ${whereOf(test)}, ${retryCount}×; first it failed: ${briefly(first)}\n`);
  }
}

function reasonOf(test) {
  for (let suite = test.parent; suite; suite = suite.parent) {
    if (suite.errors().length > 0) return 'its suite failed';
    // A suite that is skipped as a whole says why in its name, behind a colon.
    const why = suite.options?.mode === 'skip' ? /^.*?: (.+)$/.exec(suite.name)?.[1] : undefined;
    if (why !== undefined) return why;
  }
  return test.result().note ?? (test.options.mode === 'todo' ? 'still to be written' : undefined);
}
