import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { chooseKernel, temporaryTrust } from './choose-kernel.js';
import { KernelFinder } from './kernel-finder.js';

test('auto runs nothing that a notebook or its folder brings without a question, and gives no code to another language', {
  tags: ['P-212'],
}, async () => {
  const [home, folder] = ['home', 'folder'].map((name) => mkdtempSync(join(tmpdir(), `notebook-choose-${name}-`))) as [string, string];
  onTestFinished(() => [home, folder].forEach((path) => void rmSync(path, { recursive: true, force: true })));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o755 });
  };
  const install = (name: string, spec: object) =>
    write(join(home, '.local', 'share', 'jupyter', 'kernels', name, 'kernel.json'), JSON.stringify({ display_name: name, ...spec }));
  install('remote', { argv: ['/bin/sh', '-c', 'ssh there'], language: 'python' });
  const mark = join(home, 'was-run');
  write(join(folder, '.venv', 'pyvenv.cfg'), 'home = /usr/bin\nversion = 3.11.4\n');
  mkdirSync(join(folder, '.venv', 'lib', 'python3.11', 'site-packages', 'ipykernel-7.0.0.dist-info'), { recursive: true });
  write(join(folder, '.venv', 'bin', 'python'), `#!/bin/sh\ntouch '${mark}'\n`);
  const facts = { executable: join(home, 'python3'), prefix: home, version: '3.11.2', ipykernel: '6.29.5', jupyterClient: '8.6.3' };
  write(join(home, 'python3'), `#!/bin/sh\necho '${JSON.stringify({ ...facts, hasPip: true, isManaged: false })}'\n`);
  const trust = temporaryTrust();
  const choose = (metadata = {}) =>
    chooseKernel(new KernelFinder({ systemFolders: [], folder, env: { HOME: home, PATH: home } }), metadata, trust);
  const python = join(home, 'python3');
  // The environment of the folder is proposed, and not run.
  expect(await choose()).toMatchObject({ kernel: { id: python }, proposal: { id: join(folder, '.venv', 'bin', 'python') } });
  const named = { kernelspec: { name: 'remote', language: 'python' } };
  expect(await choose(named)).toMatchObject({
    kernel: { id: python },
    proposal: { id: 'remote', trust: { question: expect.stringContaining('which runs: /bin/sh -c ssh there') } },
  });
  for (const language of ['R', 'julia'])
    for (const kernelspec of [{}, { name: 'x' }, { name: 'remote', language }])
      expect((await choose({ kernelspec, language_info: { name: language } })).kernel.id).toBe('pyodide');
  await trust.add(folder);
  expect((await choose(named)).kernel.id).toBe('remote');
  expect(() => rmSync(mark)).toThrow('ENOENT');
});
