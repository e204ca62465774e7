// A runner of vitest that begins no test file after a time. Such a file is not even imported, since that alone may take seconds; it shows
// as skipped, with the reason, so the end of the run names it.
import { TestRunner, test } from 'vitest';

const until = Number(process.env.NOTEBRIDGE_TESTS_UNTIL ?? Number.POSITIVE_INFINITY);

export default class TimedRunner extends TestRunner {
  importFile(path, source) {
    if (source !== 'collect' || Date.now() < until) return super.importFile(path, source);
    test('is not begun', { tags: ['deep'] }, ({ skip }) => skip('the time of this run was over'));
  }
}
