import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { root, runVitest } from '../support/nested-vitest.js';

it('a run whose time is over begins no file, and says which ones it did not begin', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sets-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const counts = join(folder, 'counts.json');
  const late = fileURLToPath(new URL('../fixtures/late', import.meta.url));
  const reporter = join(root, 'scripts/tests/closing-line-reporter.mjs');
  const env = { NOTEBRIDGE_TESTS_UNTIL: '1', NOTEBRIDGE_TEST_COUNTS: counts };
  const { code, output } = await runVitest(late, ['--tags-filter=deep', '--reporter=default', `--reporter=${reporter}`], env);
  expect(output).toContain('skipped: any.late.mjs > is not begun: the time of this run was over');
  expect(output).not.toContain('This file was imported.');
  expect(code).toBe(0);
  expect(JSON.parse(readFileSync(counts, 'utf8'))).toEqual({ passed: 0, failed: 0, skipped: 1, deselected: 0, notBegun: ['any.late.mjs'] });
});
