// @module-tag P-213

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KernelFinder } from '../../src/kernels/kernel-finder.js';
import { bareUser, makeHostileRepository, makeVenv, sciencePython, temporaryProject, writeProgram, writeSpec } from './support/projects.js';

/** A loaded machine makes an environment in seconds. */
const timeout = 60_000;

describe('an environment of the notebook’s folder', { timeout }, () => {
  it('is found from below, with its version, and asks before it runs', async () => {
    const project = temporaryProject();
    const python = await makeVenv(join(project, '.venv'), { ipykernel: true });
    mkdirSync(join(project, 'notebooks', 'deep'), { recursive: true });
    const finder = new KernelFinder({
      systemFolders: [],
      folder: join(project, 'notebooks', 'deep'),
      env: bareUser(join(project, 'home')),
    });
    const version = execFileSync(python, ['-c', 'import sys; print("%d.%d.%d" % sys.version_info[:3])'], { encoding: 'utf8' }).trim();
    expect(finder.inFolder()).toEqual([
      {
        id: python,
        displayName: `Python ${version} (.venv)`,
        language: 'python',
        version,
        source: 'folder',
        path: python,
        trust: { folder: project, question: 'This folder has its own Python (.venv). Use it? It will run code of this folder.' },
        launch: { python },
      },
    ]);
  });

  it('is the activated one where the shell has activated it, and asks no more', async () => {
    const project = temporaryProject();
    const python = await makeVenv(join(project, '.venv'), { ipykernel: true });
    const env = bareUser(join(project, 'home'), { VIRTUAL_ENV: join(project, '.venv') });
    const all = await new KernelFinder({ systemFolders: [], folder: project, env }).all();
    expect(all.map(({ id, source, trust }) => ({ id, source, trust }))).toEqual([
      { id: python, source: 'activated', trust: undefined },
      { id: 'pyodide', source: 'built in', trust: undefined },
    ]);
  });

  it('a Python without ipykernel is listed with the command that adds it, for that Python', async () => {
    const project = temporaryProject();
    const python = await makeVenv(join(project, 'my venv', '..', 'venv'), { ipykernel: false });
    const [found] = new KernelFinder({ systemFolders: [], folder: project, env: bareUser(join(project, 'home')) }).inFolder();
    expect(found?.problem).toEqual({
      reason: 'it has no ipykernel',
      fix: `${python} -m ensurepip && ${python} -m pip install ipykernel`,
    });
    expect(found?.launch).toBeUndefined();
  });

  it('a Python without ipykernel is listed with the command of uv where there is uv', async () => {
    const project = temporaryProject();
    const env = bareUser(join(project, 'home'));
    writeProgram(join(project, 'home', 'bin', 'uv'), 'exit 1');
    const python = await makeVenv(join(project, '.venv'), { ipykernel: false });
    const [found] = new KernelFinder({ systemFolders: [], folder: project, env }).inFolder();
    expect(found?.problem?.fix).toBe(`uv pip install --python ${python} ipykernel`);
  });

  it('an environment whose Python is gone says how to make it anew', async () => {
    const project = temporaryProject();
    const python = await makeVenv(join(project, '.venv'), { ipykernel: true });
    rmSync(python);
    symlinkSync(join(project, 'no-python-here'), python);
    const [found] = new KernelFinder({ systemFolders: [], folder: project, env: bareUser(join(project, 'home')) }).inFolder();
    expect(found?.problem?.reason).toMatch(/^its Python is not there any more; it was made of the one in \//);
    expect(found?.problem?.fix).toBe(`python3 -m venv --clear ${project}/.venv && ${project}/.venv/bin/python -m pip install ipykernel`);
  });

  it('an environment of a Python that is too old says so', async () => {
    const project = temporaryProject();
    await makeVenv(join(project, '.venv'), { ipykernel: true });
    const config = join(project, '.venv', 'pyvenv.cfg');
    writeFileSync(config, readFileSync(config, 'utf8').replace(/^version = .*$/m, 'version = 3.7.16'));
    const [found] = new KernelFinder({ systemFolders: [], folder: project, env: bareUser(join(project, 'home')) }).inFolder();
    expect(found?.problem?.reason).toBe('Python 3.7.16 is too old; 3.8 or newer is needed');
  });

  it('is not looked for above the repository of the notebook, or above the home folder', async () => {
    const project = temporaryProject();
    await makeVenv(join(project, '.venv'), { ipykernel: true });
    mkdirSync(join(project, 'cloned', '.git'), { recursive: true });
    mkdirSync(join(project, 'home', 'work'), { recursive: true });
    const env = bareUser(join(project, 'home'));
    expect(new KernelFinder({ systemFolders: [], folder: join(project, 'cloned'), env }).inFolder()).toEqual([]);
    expect(new KernelFinder({ systemFolders: [], folder: join(project, 'home', 'work'), env }).inFolder()).toEqual([]);
    expect(new KernelFinder({ systemFolders: [], folder: project, env }).inFolder()).toHaveLength(1);
  });

  it('an environment that uv has not made yet says how to make it', () => {
    const project = temporaryProject();
    writeFileSync(join(project, 'uv.lock'), 'version = 1\n');
    const [found] = new KernelFinder({ systemFolders: [], folder: project, env: bareUser(join(project, 'home')) }).inFolder();
    expect(found?.problem).toEqual({
      reason: 'this project of uv has no environment yet',
      fix: `uv sync --project ${project} && uv pip install --python ${project}/.venv ipykernel`,
    });
  });

  it('an environment of conda is found by the name in environment.yml, and asks', () => {
    const project = temporaryProject();
    const env = bareUser(join(project, 'home'));
    const conda = join(project, 'home', 'miniconda', 'envs', 'analysis');
    mkdirSync(join(conda, 'conda-meta'), { recursive: true });
    writeFileSync(join(conda, 'conda-meta', 'python-3.12.4-h99e199e_1.json'), '{}');
    writeProgram(join(conda, 'bin', 'python'), 'exit 1');
    mkdirSync(join(project, 'home', '.conda'));
    writeFileSync(join(project, 'home', '.conda', 'environments.txt'), `${dirname(conda)}/other\n${conda}\n`);
    writeFileSync(join(project, 'environment.yml'), 'name: analysis\ndependencies:\n  - python=3.12\n');
    const [found] = new KernelFinder({ systemFolders: [], folder: project, env }).inFolder();
    expect(found).toMatchObject({ displayName: 'Python 3.12.4 (environment analysis)', trust: { folder: project } });
    expect(found?.problem?.fix).toBe(`conda install --yes --prefix ${conda} ipykernel`);
  });
});

describe('a hostile repository', { timeout }, () => {
  it('has nothing of its own run by looking, wherever its files lie', { tags: ['P-210'] }, async () => {
    const project = temporaryProject();
    const mark = makeHostileRepository(project);
    const env = { ...process.env, HOME: join(project, 'no-home'), PATH: `${dirname(await sciencePython())}:${process.env.PATH}` };
    const before = process.cwd();
    process.chdir(project);
    try {
      const finder = new KernelFinder({ systemFolders: [], folder: project, env });
      const all = await finder.all();
      expect(all.find(({ source }) => source === 'folder')).toMatchObject({
        displayName: 'Python 3.11.4 (.venv)',
        trust: { folder: project },
      });
      expect(all.find(({ source }) => source === 'path')).toMatchObject({ launch: {} });
      expect(await finder.find(join(project, '.venv', 'bin', 'python'))).toMatchObject({ source: 'folder', trust: { folder: project } });
    } finally {
      process.chdir(before);
    }
    expect(existsSync(mark)).toBe(false);
  });

  it('is not run either where its folder stands first on PATH', { tags: ['P-210'] }, async () => {
    const project = temporaryProject();
    const mark = makeHostileRepository(project);
    const home = temporaryProject();
    writeProgram(join(home, 'bin', 'python3'), `exec '${await sciencePython()}' "$@"`);
    writeProgram(join(project, 'tools', 'python3'), `touch '${mark}'`);
    for (const first of [join(project, '.venv', 'bin'), join(project, 'tools')]) {
      const env = bareUser(home, { PATH: `${first}:${join(home, 'bin')}` });
      const all = await new KernelFinder({ systemFolders: [], folder: project, env }).all();
      expect(all.map(({ source, path }) => [source, path])).toEqual([
        ['folder', join(project, '.venv', 'bin', 'python')],
        ['path', join(home, 'bin', 'python3')],
        ['built in', undefined],
      ]);
    }
    expect(existsSync(mark)).toBe(false);
  });

  it('the search is not held up by a pipe or an endless file in the place of a text', async () => {
    const project = temporaryProject();
    makeHostileRepository(project);
    const config = join(project, '.venv', 'pyvenv.cfg');
    rmSync(config);
    execFileSync(await sciencePython(), ['-c', 'import os, sys; os.mkfifo(sys.argv[1])', config]);
    symlinkSync('/dev/zero', join(project, 'environment.yml'));
    expect(new KernelFinder({ systemFolders: [], folder: project, env: bareUser(join(project, 'home')) }).inFolder()).toEqual([]);
  });
});

describe('python3 on PATH', { timeout }, () => {
  it('is asked what it has, and given by its real program where a launcher stands before it', async () => {
    const home = temporaryProject();
    const python = await sciencePython();
    writeProgram(join(home, 'bin', 'python3'), `exec '${python}' "$@"`);
    const found = await new KernelFinder({ systemFolders: [], folder: temporaryProject(), env: bareUser(home) }).onPath();
    expect(found).toMatchObject({ id: join(home, 'bin', 'python3'), source: 'path', launch: { python } });
    expect(found?.problem).toBeUndefined();
  });

  it('an interpreter that does not start is listed with its fault', async () => {
    const home = temporaryProject();
    const env = bareUser(home);
    writeProgram(join(home, 'bin', 'python3'), 'echo "libpython is missing" >&2; exit 127');
    const found = await new KernelFinder({ systemFolders: [], folder: temporaryProject(), env }).onPath();
    expect(found?.problem?.reason).toBe('it does not start: it ended with code 127: libpython is missing');
  });
});

describe('kernelspecs', { timeout }, () => {
  it('are read from Jupyter’s folders, the first of a name wins, and each is judged', async () => {
    const home = temporaryProject();
    const python = await sciencePython();
    const [named, users] = [join(home, 'named'), join(home, '.local', 'share', 'jupyter')];
    const plain = ['-m', 'ipykernel_launcher', '-f', '{connection_file}'];
    writeSpec(named, 'work', { argv: [python, ...plain], display_name: 'Work' });
    writeSpec(users, 'work', { argv: ['/nowhere/python', ...plain], display_name: 'Hidden by the first' });
    writeSpec(users, 'Gone', { argv: ['/nowhere/python', ...plain] });
    writeSpec(users, 'ir', { argv: ['R', '--slave', '-e', 'IRkernel::main()', '--args', '{connection_file}'], language: 'R' });
    writeSpec(users, 'remote', { argv: ['/bin/sh', '-c', 'ssh there {connection_file}'] });
    writeSpec(users, 'traced', { argv: [python, ...plain], env: { PYTHONPATH: '.' } });
    writeSpec(users, 'broken', { argv: [] });
    const env = bareUser(home, { JUPYTER_PATH: `relative:${named}` });
    writeProgram(join(home, 'bin', 'python3'), `exec '${python}' "$@"`);
    const specs = await new KernelFinder({ systemFolders: [], folder: temporaryProject(), env }).kernelspecs();
    const judged = Object.fromEntries(
      specs.map(({ id, problem, trust, launch }) => [id, { problem: problem?.reason, asks: trust !== undefined, launch }]),
    );
    expect(judged).toMatchObject({
      work: { problem: undefined, asks: false, launch: { python } },
      gone: { problem: 'its program "/nowhere/python" is not there any more', asks: false },
      ir: { problem: 'its program "R" is not on PATH', asks: false },
      remote: { problem: undefined, asks: true, launch: { python, kernelName: 'remote' } },
      traced: { problem: undefined, asks: true, launch: { python, kernelName: 'traced' } },
    });
    expect(judged).not.toHaveProperty('broken');
    expect(judged.gone?.launch).toBeUndefined();
  });

  it('are asked about where the folder has files that their language takes code from', async () => {
    const home = temporaryProject();
    const users = join(home, '.local', 'share', 'jupyter');
    writeSpec(users, 'ir', { argv: ['R', '--slave', '-e', 'IRkernel::main()', '--args', '{connection_file}'], language: 'R' });
    const julia = ['julia', '-i', '--project=@.', '/pkg/IJulia/x/src/kernel.jl', '{connection_file}'];
    writeSpec(users, 'julia', { argv: julia, language: 'julia' });
    const project = temporaryProject();
    const below = join(project, 'notebooks');
    mkdirSync(below);
    const questionsIn = async (folder: string) => {
      const specs = await new KernelFinder({ systemFolders: [], folder, env: bareUser(home) }).kernelspecs();
      return Object.fromEntries(specs.map(({ id, trust }) => [id, trust?.question]));
    };
    expect(await questionsIn(below)).toEqual({ ir: undefined, julia: undefined });
    writeFileSync(join(project, 'Project.toml'), '');
    writeFileSync(join(below, '.Rprofile'), '');
    expect(await questionsIn(below)).toEqual({
      ir: expect.stringContaining('and with it .Rprofile of this folder'),
      julia: expect.stringContaining('and with it Project.toml of this folder'),
    });
  });
});

it.skipIf(process.platform === 'win32')(
  'a folder like /tmp, where all may write, has no environment of its own, whoever it belongs to',
  { timeout, tags: ['P-249'] },
  async () => {
    const project = temporaryProject();
    await makeVenv(join(project, '.venv'), { ipykernel: true });
    const folder = join(project, 'below');
    mkdirSync(folder);
    const look = () => new KernelFinder({ systemFolders: [], folder, env: bareUser(join(project, 'home')) }).inFolder();
    expect(look()).toHaveLength(1);
    chmodSync(project, 0o1777);
    expect(look()).toEqual([]);
  },
);
