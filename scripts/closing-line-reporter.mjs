// A vitest reporter: counts the results for the closing line of `npm test`, and lists every skipped test with its reason and every test
// that passed only when it was tried again, with its first failure.
// Give the reason where the test skips: `test(name, ({ skip }) => { skip(!hasPython, 'needs Python 3'); ... })`, or in a `beforeEach`
// for a whole suite. A skip without a reason fails the run; that is how tests are forgotten.
import { existsSync, writeFileSync } from 'node:fs';
import { readJson } from './run.mjs';

export default class ClosingLineReporter {
  #filtered = false;

  onInit(vitest) {
    this.#filtered = Boolean(vitest.config.testNamePattern);
  }

  onTestRunEnd(modules, unhandledErrors) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const having = (state) => tests.filter((test) => test.result().state === state);
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    // A file that can't be loaded, a hook that throws and a rejection that nobody handles have no test to count.
    const failedElsewhere = suites.filter((suite) => suite.errors().length > 0).length + unhandledErrors.length;
    // A test that never ended: the run was stopped, or its process died.
    const unfinished = having('pending').length;
    const unexplained = this.#filtered ? [] : having('skipped').filter((test) => !reasonOf(test));
    if (!this.#filtered) listSkips(having('skipped'));
    listRetries(tests);
    if (unexplained.length > 0) {
      process.stdout.write(`${unexplained.length} skipped without a reason, which counts as failed: say why with skip('reason').\n`);
    }
    const counts = {
      passed: having('passed').length,
      failed: having('failed').length + failedElsewhere + unfinished + unexplained.length,
      skipped: having('skipped').length - unexplained.length,
    };
    if (process.env.NOTEBRIDGE_TEST_COUNTS) writeFileSync(process.env.NOTEBRIDGE_TEST_COUNTS, JSON.stringify(counts));
  }
}

/** What the reporter wrote; a vitest that ended without writing counts as one failure. */
export function readCounts(file) {
  return existsSync(file) ? readJson(file) : { passed: 0, failed: 1, skipped: 0 };
}

export function closingLine({ passed, failed, skipped }) {
  return `tests: ${passed} passed, ${failed} failed, ${skipped} skipped`;
}

function listSkips(tests) {
  for (const test of tests) {
    process.stdout.write(`skipped: ${test.module.relativeModuleId} > ${test.fullName}: ${reasonOf(test) ?? 'no reason given'}\n`);
  }
}

function listRetries(tests) {
  for (const test of tests) {
    const { retryCount = 0 } = test.diagnostic() ?? {};
    if (retryCount === 0) continue;
    const [first] = test.result().errors ?? [];
    const message = (first?.message ?? 'without a message').replaceAll(/\s+/g, ' ').slice(0, 300);
    process.stdout.write(`tried again: ${test.module.relativeModuleId} > ${test.fullName}, ${retryCount}×; first it failed: ${message}\n`);
  }
}

function reasonOf(test) {
  for (let suite = test.parent; suite; suite = suite.parent) {
    if (suite.errors().length > 0) return 'its suite failed';
  }
  return test.result().note ?? (test.options.mode === 'todo' ? 'still to be written' : undefined);
}
