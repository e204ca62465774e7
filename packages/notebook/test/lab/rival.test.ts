// @module-tag deep

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Agent } from './support/agent.js';
import { codeCell, installTimeoutMs, TestLab } from './support/jupyter.js';
import { labAlone } from './support/lab-alone.js';

let lab: TestLab;

beforeAll(async () => {
  lab = await TestLab.start({
    python: labAlone,
    /** What jupyter-server-documents 0.3.3 puts beside Lab, by which Lab's page names it. */
    async prepare({ home }) {
      const folder = join(home, 'data/labextensions/@jupyter-ai-contrib/server-documents');
      await mkdir(folder, { recursive: true });
      const build = { load: 'static/remoteEntry.js', extension: './extension' };
      const extension = { name: '@jupyter-ai-contrib/server-documents', version: '0.3.3', jupyterlab: { extension: true, _build: build } };
      await writeFile(join(folder, 'package.json'), JSON.stringify(extension));
    },
  });
}, installTimeoutMs);
afterAll(() => lab?.close());

it('a server with jupyter-server-documents is named and refused, and its file stays as it is', { timeout: 300_000 }, async () => {
  await lab.write('work.ipynb', [codeCell('one', 'a = 1')]);
  const before = await readFile(join(lab.folder, 'work.ipynb'), 'utf8');
  await expect(Agent.open(lab.server, 'work.ipynb')).rejects.toMatchObject({
    code: 'not_supported',
    message: expect.stringContaining('jupyter-collaboration'),
    data: { extension: 'jupyter-server-documents' },
  });
  expect(await readFile(join(lab.folder, 'work.ipynb'), 'utf8')).toBe(before);
});
