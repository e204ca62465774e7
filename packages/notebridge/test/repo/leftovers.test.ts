// @module-tag deep

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leftAfterRun } from '../../../../scripts/tests/leftovers/after-run.mjs';
import { processesFrom, seesAllProcesses } from '../../../../scripts/tests/leftovers/processes.mjs';
import { runVitest } from '../support/nested-vitest.js';

const fixtures = fileURLToPath(new URL('../fixtures/leftovers', import.meta.url));

interface FileResult {
  name: string;
  status: 'passed' | 'failed';
  message: string;
  assertionResults: { status: string }[];
}

describe('a test file', () => {
  /** The temporary folder of the nested run. */
  let folder: string;
  let results: FileResult[];
  let livingAfter: string[];
  let leftAtTheEnd: string[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'run-'));
    const inner = join(folder, 'tmp');
    mkdirSync(inner);
    const report = join(folder, 'report.json');
    await runVitest(fixtures, ['--reporter=json', `--outputFile=${report}`], { TMPDIR: inner });
    results = JSON.parse(readFileSync(report, 'utf8')).testResults;
    livingAfter = seesAllProcesses ? processesFrom(inner, new Set()).map(({ command }) => command) : [];
    leftAtTheEnd = leftAfterRun(inner);
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const resultOf = (name: string): FileResult => {
    const found = results.find((result) => result.name.endsWith(`/${name}.leaves.mjs`));
    if (found === undefined) throw new Error(`No result of ${name}.`);
    return found;
  };

  it('passes that leaves nothing, also if something ends a moment later', () => {
    expect(resultOf('nothing')).toMatchObject({ status: 'passed', message: '' });
  });

  it('fails that leaves something, though all its tests pass', () => {
    expect(resultOf('port')).toMatchObject({ status: 'failed', assertionResults: [{ status: 'passed' }] });
  });

  it.each([
    ['port', /port \d+ of 127\.0\.0\.1, opened by .*port\.leaves\.mjs:\d+, in the test "listens without keeping the process alive"/],
    ['files', /folder \S+kept-\w+, made by \S+files\.leaves\.mjs:\d+, in the test "makes a folder"/],
    ['files', /folder \S+kept-too-\w+, made by \S+files\.leaves\.mjs:\d+, in the test "makes another"/],
    ['files', /file or folder \S+note\.txt, made .*in the test "writes a file"/],
    ['timers', /timer of 61000 ms, set by \S+timers\.leaves\.mjs:\d+, in the test "sets a timer"/],
    ['timers', /timer of 62000 ms, set by \S+timers\.leaves\.mjs:\d+, in the test "sets an interval"/],
    ['timers', /timer of 63000 ms, set by \S+timers\.leaves\.mjs:\d+, in the test "waits for a promise/],
    ['handles', /1 × FSEvent/],
    ['handles', /2 × TCPSocketWrap: .*handles\.leaves\.mjs:\d+, in the test "holds a connection"/],
  ])('is told what it leaves, and who made it: %s', (name, text) => {
    expect(resultOf(name).message).toMatch(text);
  });

  it.for([
    [
      'process',
      /process \d+ \(\S*node .*\), which listens at 127\.0\.0\.1:\d+, started by \S+process\.leaves\.mjs:\d+, in the test "starts/,
    ],
    ['orphan', /process \d+ \(sleep 1001\), started /],
    ['stranger', /process \d+ \(\/bin\/sh -c cd \/; .*|sleep 1002\), started by \S+stranger\.leaves\.mjs:\d+/],
  ] as const)('is told of processes, also of those that have lost their parent: %s', ([name, text], { skip }) => {
    skip(!seesAllProcesses, 'only Linux tells of them');
    expect(resultOf(name).message).toMatch(text);
  });

  it('has what it left ended and removed', () => {
    expect(livingAfter).toEqual([]);
    expect(leftAtTheEnd).toEqual([expect.stringMatching(/^temporary file or folder \S+nb-\w+, of a test file that was stopped or died$/)]);
  });
});
