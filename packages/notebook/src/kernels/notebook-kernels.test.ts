import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { TinyKernel } from '../../test/fixtures/tiny-kernel.js';
import { createDocument } from '../model/document.js';
import { createNotebookSession } from '../session/session.js';
import { KernelFinder } from './kernel-finder.js';
import { NotebookKernels, type NotebookKernelsOptions } from './notebook-kernels.js';
import { createPyodideReach } from './pyodide-reach.js';

const by = { kind: 'person', name: 'Ann' } as const;

/** A notebook in a folder with an environment of its own, which its files alone say is usable. Every kernel is a tiny one. */
async function open(options: Partial<NotebookKernelsOptions> = {}) {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), 'notebook-kernels-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const python = join(folder, '.venv', 'bin', 'python');
  mkdirSync(join(folder, '.venv', 'lib', 'python3.11', 'site-packages', 'ipykernel-7.0.0.dist-info'), { recursive: true });
  mkdirSync(dirname(python));
  writeFileSync(join(folder, '.venv', 'pyvenv.cfg'), 'home = /usr/bin\nversion = 3.11.4\n');
  writeFileSync(python, '#!/bin/sh\n', { mode: 0o755 });
  const finder = new KernelFinder({ systemFolders: [], folder, env: { HOME: folder, PATH: folder } });
  const { files, allowNet = [] } = options;
  const kernels = await NotebookKernels.open({
    ...{ folder, finder, metadata: {}, sandbox: undefined, allowNet, files, create: () => new TinyKernel() },
    reach: createPyodideReach({ files, allowNet, folder, hasFile: true, ours: [] }),
    ...options,
    ...(options.wanted === '.venv' ? { wanted: python } : {}),
  });
  const document = createDocument();
  const session = createNotebookSession({ document, kernel: kernels.kernel });
  kernels.attach(session);
  onTestFinished(() => session.close());
  return { folder, python, kernels, session, document };
}

test('who joins with another --kernel has the person asked, once, with what its code could do; a yes is for that kernel alone', {
  tags: ['P-696'],
}, async () => {
  const { folder, python, kernels } = await open({ wanted: 'pyodide', isAttended: true });
  await kernels.offer('pyodide');
  expect(kernels.choice.proposal).toBeNull();
  await kernels.offer(python);
  expect(kernels.choice.proposal).toEqual({
    id: python,
    folder,
    question: expect.stringMatching(
      /^An agent was set up with --kernel .*\.venv\/bin\/python, and this notebook was open already, with Python \(Pyodide\)/,
    ),
    isolation: expect.stringContaining('Nothing stands between its code and this machine.'),
  });
  expect((await kernels.list()).find(({ id }) => id === python)?.asks?.isolation).toContain('Nothing stands between');
  const other = kernels.trustFolder({ yes: true, id: 'pyodide', folder }, by);
  await expect(other).rejects.toMatchObject({ code: 'bad_request' });
  await kernels.trustFolder({ yes: true, id: python, folder }, by);
  expect(kernels.choice).toMatchObject({ id: python, proposal: null, reason: 'it was chosen in the window' });
  expect((await kernels.list()).find(({ id }) => id === python)?.asks).toBeNull();
  await kernels.offer(join(folder, 'none'));
  expect(kernels.choice.notice).toMatch(/--kernel .*none, which is not used here\. There is nothing at/);
});

test('a no to what who joins has asked for is kept', { tags: ['P-696'] }, async () => {
  const { python, kernels } = await open({ wanted: 'pyodide', isAttended: true });
  await kernels.offer(python);
  await kernels.trustFolder({ yes: false }, by);
  await kernels.offer(python);
  expect(kernels.choice).toMatchObject({ id: 'pyodide', proposal: null });
});

test.each<[Partial<NotebookKernelsOptions>, (python: string) => string[]]>([
  [{ wanted: 'pyodide', isAttended: true }, () => ['--kernel', 'pyodide']],
  // What only an agent opened reads no files; a person who opens it would let it.
  [{}, () => ['--kernel', 'pyodide', '--files', 'none']],
  [{ wanted: 'pyodide', files: 'ro', allowNet: ['pypi.org'] }, () => ['--kernel', 'pyodide', '--files', 'ro', '--allow-net', 'pypi.org']],
  [{ wanted: '.venv', isAttended: true }, (python) => ['--kernel', python]],
  [{ wanted: '.venv' }, (python) => ['--kernel', python, '--sandbox', 'auto']],
  [{ wanted: '.venv', files: 'rw' }, (python) => ['--kernel', python, '--files', 'rw']],
  [{ wanted: '.venv', sandbox: 'require' }, (python) => ['--kernel', python, '--sandbox', 'require']],
  [{ wanted: 'auto', isAttended: true }, () => []],
])('a notebook that was opened with %j is opened again with the same limits', { tags: ['P-695'] }, async (options, expected) => {
  const { kernels, python } = await open(options);
  expect(kernels.choice.options).toEqual(expected(python));
});

test('agents are told that nothing of what the notebook shows is in this kernel, until something runs in it', {
  tags: ['P-694'],
}, async () => {
  const { kernels, session, document } = await open();
  expect(kernels.describe()).not.toHaveProperty('variables');
  const { id } = document.insert(0, { type: 'code', source: 'x = 1' }, { by });
  await session.run(id, { by });
  expect(kernels.describe()).not.toHaveProperty('variables');
  await session.restart({ by });
  expect(kernels.describe().variables).toMatch(/^none: no cell has run in this kernel yet/);
  await session.run(id, { by });
  expect(kernels.describe()).not.toHaveProperty('variables');
});
