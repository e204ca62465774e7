// @module-tag deep

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { emitPython } from '@notebridge/bindings/python';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pythonWith } from '../../../../scripts/python-env.mjs';
import { bareEnvironment } from '../support/bare-environment.js';
import { returnValues } from '../support/return-values.js';

/** The runtime of the Python bindings has its tests in Python: each is held against the real program, or a raw socket. */
const suite = fileURLToPath(new URL('../python', import.meta.url));
const installMs = 10 * 60_000;

let python: string;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
  python = await pythonWith(['pytest', 'mypy', 'ipykernel', 'jupyter_client', 'tqdm']);
  const { files } = await emitPython({ servers: [], skills: true, hubUrl: undefined });
  for (const [path, text] of files) {
    const file = join(folder, 'generated', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  writeFileSync(join(folder, 'values.json'), JSON.stringify(returnValues));
}, installMs);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs Python to its end; what it wrote if that was a failure. */
async function runPython(...args: string[]): Promise<string> {
  const { HOME } = process.env;
  const env = {
    ...{ ...bareEnvironment(), HOME, PYTHONUTF8: '1', PYTHONDONTWRITEBYTECODE: '1' },
    ...{ NOTEBRIDGE_TEST_PACKAGES: folder, NOTEBRIDGE_TEST_VALUES: join(folder, 'values.json'), NOTEBRIDGE_TEST_NODE: process.execPath },
  };
  const run = promisify(execFile)(python, args, { cwd: suite, env, timeout: installMs, maxBuffer: 1 << 26 });
  const { stdout } = await run.catch((error: { stdout?: string; stderr?: string; message: string }) => {
    throw new Error(`${error.message}\n${error.stdout?.slice(-8000)}\n${error.stderr?.slice(-4000)}`);
  });
  return stdout;
}

const pytest = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'];

it('the runtime passes its tests, with every warning an error', { timeout: installMs, tags: ['P-083', 'P-092'] }, async () => {
  expect(await runPython('-W', 'error', ...pytest, '--basetemp', join(folder, 'values'), '--ignore=test_kernel.py')).toMatch(
    /\n\d+ passed(, \d+ skipped)? in/,
  );
});

// Apart from the others: the client of Jupyter leaves warnings of its own.
it('an ipykernel is interrupted, and shows what tools return', { timeout: installMs, tags: ['P-085'] }, async () => {
  expect(await runPython(...pytest, '--basetemp', join(folder, 'kernels'), 'test_kernel.py')).toMatch(/\n\d+ passed in/);
});

it('the runtime is typed without a gap', { timeout: installMs }, async () => {
  const cache = join(folder, 'mypy');
  expect(await runPython('-m', 'mypy', '--strict', '--cache-dir', cache, join(folder, 'generated'))).toMatch(/^Success: no issues found/);
});
