// @module-tag deep

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { root, runVitest } from '../support/nested-vitest.js';

const fixtures = fileURLToPath(new URL('../fixtures/retries', import.meta.url));
const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts/tests/closing-line-reporter.mjs')}`];
const failure = 'the page was slow: expected 1 to be 2';

describe('tests that would pass at the second try', () => {
  let onCi: string;
  let byHand: string;
  beforeAll(async () => {
    const runs = ['true', ''].map((CI) => runVitest(fixtures, reporters, { CI }));
    [onCi = '', byHand = ''] = (await Promise.all(runs)).map(({ output }) => output);
  }, 180_000);

  it('pass on CI if they drive a browser, and the run ends with a line about each', () => {
    const lines = onCi.split('\n').filter((line) => line.startsWith('tried again'));
    expect(lines).toEqual([expect.stringContaining('tried again: flaky.case.mjs > passes at the second try, 1×; first it failed: ')]);
    expect(lines[0]).toContain(failure);
    expect(onCi).toMatch(/Tests +1 failed \| 2 passed/);
  });

  it('fail on CI if they drive none', () => {
    expect(onCi).toMatch(/FAIL +steady\.case\.mjs > drives no browser/);
    // Behind what was tried again, where a log that is cut still has it.
    const ours = onCi.split('\n').filter((line) => /^(?:tried again|failed): /.test(line));
    expect(ours.at(-1)).toMatch(/^failed: steady\.case\.mjs > drives no browser[^:]*: expected 1 to be 2/);
  });

  it('fail by hand', () => {
    expect(byHand).toMatch(/Tests +2 failed \| 1 passed/);
    expect(byHand).not.toContain('tried again');
  });
});

it('no test has a retry of its own', async () => {
  const listed = await promisify(execFile)('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root });
  const files = listed.stdout
    .split('\n')
    .filter((file) => /\.test\.[cm]?[jt]s$|^vitest\.config/.test(file) && !file.endsWith('retries.test.ts'));
  expect(files.length).toBeGreaterThan(200);
  expect(files.filter((file) => /\bretry: (?!0\b)|--retry|\brepeats:/.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});
