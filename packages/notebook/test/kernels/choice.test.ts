// @module-tag deep
// @module-tag P-212

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseKernel, temporaryTrust } from '../../src/kernels/choose-kernel.js';
import { KernelFinder } from '../../src/kernels/kernel-finder.js';
import { bareUser, makeHostileRepository, makeVenv, sciencePython, temporaryProject, writeProgram, writeSpec } from './support/projects.js';

const timeout = 60_000;
const generic = { kernelspec: { name: 'python3', display_name: 'Python 3 (ipykernel)', language: 'python' } };

/** A user with `python3` that has ipykernel, and a folder of notebooks. */
async function setUp({ onPath = true }: { onPath?: boolean } = {}) {
  const [home, project] = [temporaryProject(), temporaryProject()];
  const python = await sciencePython();
  const env = bareUser(home);
  if (onPath) writeProgram(join(home, 'bin', 'python3'), `exec '${python}' "$@"`);
  const specs = join(home, '.local', 'share', 'jupyter');
  const trust = temporaryTrust();
  const choose = (metadata = {}, more = {}) =>
    chooseKernel(new KernelFinder({ systemFolders: [], folder: project, env: { ...env, ...more } }), metadata, trust);
  return { home, project, python, specs, trust, choose };
}

describe('auto', { timeout }, () => {
  it('takes the activated environment before everything that means any Python', async () => {
    const { project, choose } = await setUp();
    const python = await makeVenv(join(project, '.venv'), { ipykernel: true });
    const { kernel, proposal, reason } = await choose(generic, { VIRTUAL_ENV: join(project, '.venv') });
    expect({ id: kernel.id, proposal, reason }).toEqual({ id: python, proposal: undefined, reason: 'its environment is activated' });
  });

  it('proposes the environment of the folder, and takes it once the folder is trusted', async () => {
    const { home, project, trust, choose } = await setUp();
    const python = await makeVenv(join(project, '.venv'), { ipykernel: true });
    for (const metadata of [{}, generic]) {
      const { kernel, proposal } = await choose(metadata);
      expect([kernel.id, proposal?.id]).toEqual([join(home, 'bin', 'python3'), python]);
    }
    await trust.add(project);
    for (const metadata of [{}, generic]) {
      const { kernel, proposal } = await choose(metadata);
      expect([kernel.id, proposal]).toEqual([python, undefined]);
    }
  });

  it('takes python3 with ipykernel, and else Pyodide with the next command', async () => {
    const { home, choose } = await setUp();
    expect((await choose()).kernel.id).toBe(join(home, 'bin', 'python3'));
    const bare = await setUp({ onPath: false });
    expect(await bare.choose()).toEqual({
      kernel: expect.objectContaining({ id: 'pyodide' }),
      reason: 'no Python with ipykernel was found',
    });
    const withOwn = await setUp({ onPath: false });
    await makeVenv(join(withOwn.project, '.venv'), { ipykernel: true });
    expect(await withOwn.choose()).toMatchObject({ kernel: { id: 'pyodide' }, reason: 'until a person allows the Python of this folder' });
    const python = await makeVenv(join(bare.home, 'own'), { ipykernel: false });
    writeProgram(join(bare.home, 'bin', 'python3'), `exec '${python}' "$@"`);
    const { kernel, notice } = await bare.choose();
    expect(kernel.id).toBe('pyodide');
    expect(notice).toBe(
      `${join(bare.home, 'bin', 'python3')} cannot be used: it has no ipykernel. To fix it: ${python} -m ensurepip && ${python} -m pip install ipykernel`,
    );
  });

  it('takes what the notebook names among the installed kernelspecs', async () => {
    const { project, python, specs, choose } = await setUp({ onPath: false });
    await makeVenv(join(project, '.venv'), { ipykernel: true });
    writeSpec(specs, 'work', { argv: [python, '-m', 'ipykernel_launcher', '-f', '{connection_file}'], display_name: 'Work' });
    const { kernel, proposal, reason } = await choose({ kernelspec: { name: 'work', language: 'python' } });
    expect({ id: kernel.id, launch: kernel.launch, proposal, reason }).toEqual({
      id: 'work',
      launch: { python },
      proposal: undefined,
      reason: 'the notebook names it',
    });
  });

  it('says what the notebook names and is not here, and never runs its code in another language', async () => {
    const { home, choose } = await setUp();
    const gone = await choose({ kernelspec: { name: 'conda-env-x', language: 'python' } });
    expect([gone.kernel.id, gone.notice]).toEqual([
      join(home, 'bin', 'python3'),
      'The notebook asks for the kernel "conda-env-x", which is not installed here.',
    ]);
    const r = await choose({ kernelspec: { name: 'ir', display_name: 'R' }, language_info: { name: 'R' } });
    expect([r.kernel.id, r.notice]).toEqual(['pyodide', 'The notebook asks for the kernel "ir", which is not installed here.']);
    const plain = await choose({ language_info: { name: 'julia' } });
    expect([plain.kernel.id, plain.notice]).toEqual([
      'pyodide',
      'The notebook is in the language "julia", and names no kernel that is installed here.',
    ]);
  });

  it('asks for a kernelspec that runs something else, or another language than the notebook says, and runs it once the folder is trusted', async () => {
    const { home, project, specs, trust, choose } = await setUp();
    writeSpec(specs, 'remote', { argv: ['/bin/sh', '-c', 'ssh there'] });
    writeSpec(specs, 'shell', { argv: ['/bin/sh', '-m', 'bash_kernel'], language: 'bash' });
    const asked = await choose({ kernelspec: { name: 'remote', language: 'python' } });
    expect([asked.kernel.id, asked.proposal?.id]).toEqual([join(home, 'bin', 'python3'), 'remote']);
    expect(asked.proposal?.trust).toEqual({
      folder: project,
      question: 'The notebook asks for the kernel "remote", which runs: /bin/sh -c ssh there. Run it in the notebooks of this folder?',
    });
    const other = await choose({ kernelspec: { name: 'shell', language: 'python' } });
    expect([other.kernel.id, other.proposal?.id]).toEqual([join(home, 'bin', 'python3'), 'shell']);
    await trust.add(project);
    expect((await choose({ kernelspec: { name: 'remote', language: 'python' } })).kernel.id).toBe('remote');
  });

  it('stays with Pyodide where the notebook was last used with it', async () => {
    const { choose } = await setUp();
    const pyodide = { kernelspec: { name: 'python3', display_name: 'Python (Pyodide)', language: 'python' } };
    expect(await choose(pyodide)).toMatchObject({ kernel: { id: 'pyodide' }, reason: 'the notebook was last used with it' });
  });

  it('takes metadata of the wrong kinds as if they were not there', async () => {
    const { home, choose } = await setUp();
    for (const kernelspec of [null, [], 'python3', { name: 7, language: {} }, { name: '' }])
      expect((await choose({ kernelspec, language_info: 3 })).kernel.id).toBe(join(home, 'bin', 'python3'));
  });

  it('runs nothing of a hostile repository', { tags: ['P-210'] }, async () => {
    const { home, project, choose } = await setUp();
    const mark = makeHostileRepository(project);
    writeFileSync(join(project, 'environment.yml'), 'name: ../../.venv\n');
    for (const metadata of [{}, generic, { kernelspec: { name: '../../.venv/bin/python' } }]) {
      const { kernel, proposal } = await choose(metadata);
      expect([kernel.id, proposal?.id]).toEqual([join(home, 'bin', 'python3'), join(project, '.venv', 'bin', 'python')]);
    }
    expect(existsSync(mark)).toBe(false);
  });
});
