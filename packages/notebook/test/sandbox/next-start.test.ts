// @module-tag P-240

/** Code that may write to the folder of its notebook, and what is started outside of the sandbox afterwards. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toKernelSpec } from '@notebridge/sandbox/kernel-spec';
import { findPythonPlaces } from '@notebridge/sandbox/python-places';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lookAtInterpreter } from '../../src/kernels/interpreter-look.js';
import { runInside, whyNoSandbox } from './support/sandboxed.js';

const python = ['/usr/bin/python3'].find((path) => existsSync(path)) ?? '';
const missing = (await whyNoSandbox()) ?? (python === '' ? 'there is no /usr/bin/python3' : undefined);

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-next-start-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** An environment without packages. Returns its Python. */
function makeEnvironment(at: string): string {
  execFileSync(python, ['-m', 'venv', '--without-pip', at]);
  return join(at, 'bin/python');
}

describe.skipIf(python === '')('a Python that is asked outside', () => {
  test('runs no code of a project that was installed to be edited, nor of one on PYTHONPATH', async () => {
    const mark = join(folder, 'was-run');
    const project = join(folder, 'project');
    const environment = join(folder, 'environment');
    mkdirSync(project);
    const asked = makeEnvironment(environment);
    const code = `open(${JSON.stringify(mark)}, "a").write(__name__)\n`;
    for (const name of ['sitecustomize', 'usercustomize', 'json', 'hook']) writeFileSync(join(project, `${name}.py`), code);
    const version = execFileSync(asked, ['-E', '-S', '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], {
      encoding: 'utf8',
    }).trim();
    writeFileSync(
      join(environment, `lib/python${version}/site-packages/project.pth`),
      `# a comment\n${project}\nimport hook\n/not/there\n`,
    );
    const { own, others, prefix } = await findPythonPlaces(asked);
    expect(prefix).toBe(environment);
    expect(own).toContain(environment);
    expect(others).toEqual([project]);
    for (const variables of [{}, { PYTHONPATH: project }]) {
      const look = await lookAtInterpreter(asked, { PATH: process.env.PATH, ...variables });
      expect(look).toMatchObject({ prefix: environment, ipykernel: null, hasPip: false });
    }
    expect(existsSync(mark) && readFileSync(mark, 'utf8')).toBe(false);
    // It is what would have run.
    execFileSync(asked, ['-c', '']);
    expect(readFileSync(mark, 'utf8')).toContain('hook');
  });
});

describe.skipIf(missing !== undefined)('files "rw"', () => {
  const runs = async (asked: string, source: string) => {
    const spec = await toKernelSpec({ python: asked, args: ['-c', source], folder, files: 'rw' });
    return (await runInside(spec)).stdout.trim().split('\n');
  };
  const tryAll = (attempts: readonly string[]) => `
import os, shutil
for attempt in ${JSON.stringify(attempts)}:
    try:
        exec(attempt)
        print("did", attempt)
    except OSError as error:
        print(error.strerror)
`;

  test('lets nobody replace the environment that the next start runs, or a folder above it', async () => {
    const asked = makeEnvironment(join(folder, 'backend/deep/.venv'));
    const attempts = [
      'os.rename("backend", "other")',
      'os.rename("backend/deep", "other")',
      'os.rename("backend/deep/.venv", "other")',
      'open("backend/deep/.venv/bin/activate", "a")',
      'os.remove("backend/deep/.venv/bin/python")',
    ];
    const outcomes = await runs(asked, tryAll([...attempts, 'open("backend/deep/new", "w")']));
    expect(outcomes.slice(0, -1).filter((outcome) => outcome.startsWith('did'))).toEqual([]);
    expect(outcomes.at(-1)).toMatch(/^did/);
    expect(existsSync(join(folder, 'backend/deep/new'))).toBe(true);
  });

  test('lets nobody put other settings of git in the place of those that are there', async () => {
    execFileSync('git', ['init', '-q', folder]);
    mkdirSync(join(folder, '.vscode'));
    const attempts = [
      'os.rename(".git", "other")',
      'open(".git/config", "a")',
      'open(".git/commondir", "w")',
      'open(".git/hooks/post-checkout", "w")',
      'os.rename(".vscode", "other")',
      'open(".vscode/tasks.json", "w")',
    ];
    expect((await runs(python, tryAll(attempts))).filter((outcome) => outcome.startsWith('did'))).toEqual([]);
  });

  test('lets nobody replace what is covered', async () => {
    mkdirSync(join(folder, '.config/gh'), { recursive: true });
    const keys = join(folder, '.config/gh/hosts.yml');
    writeFileSync(keys, 'keys');
    const attempts = [
      'os.rename(".config", "other")',
      'os.rename(".config/gh", "other")',
      'os.rename(".config/gh/hosts.yml", "other")',
      'open(".config/gh/hosts.yml", "w")',
      'open(".config/gh/hosts.yml")',
    ];
    const { stdout } = await runInside(await toKernelSpec({ python, args: ['-c', tryAll(attempts)], folder, files: 'rw' }));
    expect(stdout.split('\n').filter((outcome) => outcome.startsWith('did'))).toEqual([]);
    expect(readFileSync(keys, 'utf8')).toBe('keys');
  });

  test('is refused where its Python is the folder, or is found by a link of it, which code could replace; "ro" is not', async () => {
    makeEnvironment(join(folder, 'elsewhere/environment'));
    const project = join(folder, 'project');
    mkdirSync(project);
    symlinkSync('../elsewhere/environment', join(project, '.venv'));
    const linked = { python: join(project, '.venv/bin/python'), args: ['-c', 'print(1)'], folder: project };
    await expect(toKernelSpec({ ...linked, files: 'rw' })).rejects.toThrow(
      /is the link ".*project\/\.venv", which leads out.*"--files ro"/,
    );
    expect((await runInside(await toKernelSpec({ ...linked, files: 'ro' }))).stdout).toBe('1\n');
    const own = { python: join(folder, 'elsewhere/environment/bin/python'), args: [], folder: join(folder, 'elsewhere/environment') };
    await expect(toKernelSpec({ ...own, files: 'rw' })).rejects.toThrow(/it is the environment of its Python/);
  });
});

test.skipIf(python === '')('the home folder is given to no kernel, nor what is above it', { tags: ['P-244'] }, async () => {
  const home = process.env.HOME;
  try {
    process.env.HOME = join(folder, 'people/me');
    mkdirSync(join(folder, 'people/me/work'), { recursive: true });
    for (const name of ['people/me', 'people', '.'])
      for (const files of ['ro', 'rw'] as const)
        await expect(toKernelSpec({ python, args: [], folder: join(folder, name), files })).rejects.toThrow(
          /your home folder.*--files none/,
        );
    const { mounts } = await toKernelSpec({ python, args: [], folder: join(folder, 'people/me/work'), files: 'rw' });
    expect(mounts).toEqual([{ path: join(folder, 'people/me/work'), access: 'rw' }]);
  } finally {
    if (home === undefined) delete process.env.HOME;
    else process.env.HOME = home;
  }
});
