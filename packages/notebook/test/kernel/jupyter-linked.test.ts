// @module-tag deep
// @module-tag P-267

/** An environment whose folder or Python is a link elsewhere: in the sandbox it is what it is without. */
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findPythonPlaces } from '@notebridge/sandbox/python-places';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createJupyterKernel } from '../../src/kernel/jupyter/jupyter-kernel.js';
import { whyNoSandbox } from '../sandbox/support/sandboxed.js';
import { sciencePython } from './support/jupyter-harness.js';

const missing = await whyNoSandbox();

let base = '';
let folder = '';
let environment = '';
beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-linked-')));
  folder = join(base, 'project');
  mkdirSync(folder);
  environment = realpathSync(dirname(dirname(await sciencePython())));
}, 600_000);
afterEach(() => rmSync(base, { recursive: true, force: true }));

test.skipIf(missing !== undefined).each(['ro', 'none'] as const)(
  'a folder that is a link to a link, with files %j',
  async (files) => {
    symlinkSync(environment, join(base, 'current'));
    symlinkSync(join(base, 'current'), join(folder, '.venv'));
    const kernel = createJupyterKernel({ folder, python: join(folder, '.venv/bin/python'), sandbox: 'require', files });
    try {
      const printed: unknown[] = [];
      await kernel.execute('import pandas, sys; print(sys.prefix)', { onOutput: ({ text }) => printed.push(text) });
      expect(printed).toEqual([`${join(folder, '.venv')}\n`]);
    } finally {
      await kernel.close();
    }
  },
  180_000,
);

test.skipIf(missing !== undefined)(
  'one that the code could replace is not run where the folder is written to',
  async () => {
    symlinkSync(environment, join(folder, '.venv'));
    const kernel = createJupyterKernel({ folder, python: join(folder, '.venv/bin/python'), sandbox: 'require', files: 'rw' });
    await expect(kernel.start()).rejects.toThrow(/its environment is the link .* which leads out of that folder.*by a path outside/);
    await kernel.close();
    // By a path outside, it is known by its real name.
    const outside = createJupyterKernel({ folder, python: join(environment, 'bin/python'), sandbox: 'require', files: 'rw' });
    const printed: unknown[] = [];
    await outside.execute('import sys; print(sys.prefix)', { onOutput: ({ text }) => printed.push(text) });
    expect(printed).toEqual([`${environment}\n`]);
    await outside.close();
  },
  180_000,
);

test('a Python that is a relative link through a link is followed from where it really is, and no more than it is shown', async () => {
  const real = join(base, 'away/envs/one');
  mkdirSync(join(real, 'bin'), { recursive: true });
  copyFileSync(join(environment, 'pyvenv.cfg'), join(real, 'pyvenv.cfg'));
  const python = realpathSync(join(environment, 'bin/python'));
  symlinkSync(dirname(dirname(python)), join(base, 'away/pythons'));
  symlinkSync(`../../../pythons/bin/${python.slice(dirname(python).length + 1)}`, join(real, 'bin/python'));
  symlinkSync(real, join(folder, '.venv'));
  const { executable, prefix, own } = await findPythonPlaces(join(folder, '.venv/bin/python'));
  expect({ executable, prefix }).toEqual({ executable: join(real, 'bin/python'), prefix: real });
  expect(own).toEqual(expect.arrayContaining([real, join(base, 'away/pythons')]));
  for (const more of [base, join(base, 'away'), join(base, 'away/envs'), folder]) expect(own).not.toContain(more);
});
