// @module-tag P-623

/** Kernels outside of what code was given, which run something of it: by the words and variables of a kernelspec, or by what is installed to be edited. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { recordWritten } from '@notebridge/sandbox/written-folders';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { coreAndDeep } from '../../../notebridge/test/support/core-and-deep.js';
import { KernelFinder } from '../../src/kernels/kernel-finder.js';
import { beginningIn } from '../../src/kernels/kernel-terms.js';

let base: string;
let given: string;
let outside: string;

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-written-')));
  [given, outside] = [join(base, 'given'), join(base, 'outside')];
  for (const folder of [given, outside, join(base, 'home')]) mkdirSync(folder);
  symlinkSync(given, join(outside, 'link'));
  for (const path of ['k/bin/python', 'k.py', 'start']) put(join(given, path), '', 0o755);
  put(join(given, 'data.db'), '');
  await recordWritten(given);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

function link(path: string, target: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

/** `P`: the folder that was given, `O`: one outside. */
const filled = (text: string) => text.replace(/\b[PO](?=[/: "']|$)/gm, (name) => (name === 'P' ? given : outside));
const finder = () => new KernelFinder({ folder: outside, env: { HOME: join(base, 'home'), PATH: '/usr/bin' }, systemFolders: [] });
const launch = ['-m', 'ipykernel_launcher', '-f', '{connection_file}'];

interface Words {
  argv: string[];
  env?: Record<string, string>;
}

async function writtenOfSpec(words: Words): Promise<string | undefined> {
  const at = join(base, 'home/.local/share/jupyter/kernels/it');
  put(join(at, 'kernel.json'), filled(JSON.stringify({ ...words, display_name: 'It', language: 'python' })));
  const found = await finder().find('it');
  expect(found?.source).toBe('kernelspec');
  return found?.written;
}

describe('a kernelspec outside', () => {
  const python = '/usr/bin/python3';
  const starts: [string, Words][] = [
    ['env', { argv: ['/usr/bin/env', 'P/k/bin/python', ...launch] }],
    ['a shell', { argv: ['bash', '-c', 'exec P/k/bin/python -m ipykernel_launcher'] }],
    ['nice', { argv: ['nice', '-n', '5', 'P/k/bin/python', ...launch] }],
    ['a script', { argv: ['python', 'P/k.py', '{connection_file}'] }],
    ['a script, by a link', { argv: [python, '-X', 'dev', 'O/link/k.py'] }],
    ['its own folder, by `..`', { argv: ['nice', '{resource_dir}/../../../../../../given/start'] }],
    ['PYTHONPATH', { argv: [python, ...launch], env: { PYTHONPATH: 'O/lib:P/pp' } }],
    ['PYTHONPATH with a variable', { argv: [python, ...launch], env: { PYTHONPATH: '$' + '{HERE}/pp', HERE: 'P' } }],
    ['IPYTHONDIR', { argv: [python, ...launch], env: { IPYTHONDIR: 'P/ipd' } }],
    ['the option for the folder of IPython', { argv: [python, ...launch, '--ipython-dir=P/ipd'] }],
    ['a trait of IPython', { argv: [python, ...launch, '--ProfileDir.location=P/ipd'] }],
    ['IPYTHONDIR with a link in it', { argv: [python, ...launch], env: { IPYTHONDIR: 'O/ipd' } }],
    ['PATH', { argv: ['server', ...launch], env: { PATH: 'P/bin:/usr/bin' } }],
    ['PYTHONPYCACHEPREFIX', { argv: [python, ...launch], env: { PYTHONPYCACHEPREFIX: 'P/pyc' } }],
    ['an option of Python', { argv: [python, '-X', 'pycache_prefix=P/pyc', ...launch] }],
    ['a shell with options', { argv: ['sh', '-e', '-x', 'P/start.inc', '{connection_file}'] }],
    ['LD_PRELOAD', { argv: [python, ...launch], env: { LD_PRELOAD: 'P/x.so' } }],
  ];
  for (const { cells, tags } of coreAndDeep(starts, (_, index) => index % 2 === 0))
    test.each(cells)('that runs code there by %s counts as one of there', { tags }, async (_, words) => {
      link(join(outside, 'ipd/profile_default/startup/00.py'), join(given, 'k.py'));
      expect(await writtenOfSpec(words)).toBe(given);
    });

  test('whose program is a script that a Python there runs does, too', async () => {
    put(join(outside, 'kern'), filled('#!P/k/bin/python\n'), 0o755);
    expect(await writtenOfSpec({ argv: ['O/kern', '-f', '{connection_file}'] })).toBe(given);
  });

  test('in a notebook of there does, where it takes modules from the folder that it begins in; the usual one takes none', async () => {
    const found = async (env: Record<string, string>) => {
      const argv = [python, ...launch];
      put(
        join(base, 'home/.local/share/jupyter/kernels/it/kernel.json'),
        JSON.stringify({ argv, env, display_name: 'It', language: 'python' }),
      );
      const there = new KernelFinder({ folder: given, env: { HOME: join(base, 'home'), PATH: '/usr/bin' }, systemFolders: [] });
      return (await there.find('it'))?.written;
    };
    expect([await found({ MODE: 'x' }), await found({})]).toEqual([given, undefined]);
  });

  test('that names data there, or nothing of there, does not', async () => {
    expect(
      await writtenOfSpec({ argv: [python, ...launch, '--data', 'P', 'P/data.db'], env: { DB: 'P/data.db', DATA: 'P' } }),
    ).toBeUndefined();
    expect(
      await writtenOfSpec({ argv: ['bash', '-c', 'exec python3 -m ipykernel_launcher'], env: { PYTHONPATH: 'O/lib' } }),
    ).toBeUndefined();
  });
});

describe('an environment outside', () => {
  const packages = 'env/lib/python3.11/site-packages';
  const mapping = 'MAPPING: dict[str, str] = {"proj": "P/src/proj"}\n';
  const edited: [string, Record<string, string>][] = [
    ['a line of a path file', { 'proj.pth': 'O/lib\nP/src\n' }],
    ['a relative line', { 'proj.pth': '../../../../link/src\n' }],
    ['a finder', { '__editable__.proj-1.pth': 'import __editable___proj_finder; x()\n', '__editable___proj_finder.py': mapping }],
    ['a module that a path file imports', { '_proj.pth': 'import _proj_paths\n', '_proj_paths.py': `PATHS = ['P/src']\n` }],
    ['code of a path file', { 'proj.pth': `import sys; sys.path.append('P/src')\n` }],
  ];
  const writtenOf = async (files: Record<string, string>) => {
    put(join(outside, 'env/pyvenv.cfg'), 'home = /usr/bin\nversion = 3.11.2\n');
    mkdirSync(join(outside, packages, 'ipykernel-6.30.0.dist-info'), { recursive: true });
    mkdirSync(join(outside, 'env/bin'));
    symlinkSync('/usr/bin/python3', join(outside, 'env/bin/python'));
    for (const [name, text] of Object.entries(files)) put(join(outside, packages, name), filled(text));
    const asked = await finder().find(join(outside, 'env'));
    const offered = finder().inFolder();
    return [asked?.written, ...offered.map(({ written }) => written)];
  };
  for (const { cells, tags } of coreAndDeep(edited, (_, index) => index % 2 === 0))
    test.each(cells)('with a project of there by %s counts as one of there', { tags }, async (_, files) => {
      expect(await writtenOf(files)).toEqual([given, given]);
    });

  test('with a package that is a link to there does, too', async () => {
    mkdirSync(join(outside, packages), { recursive: true });
    symlinkSync(join(given, 'src/proj'), join(outside, packages, 'proj'));
    expect(await writtenOf({})).toEqual([given, given]);
  });

  test('whose folder of packages is a link to there does, too', async () => {
    link(join(outside, packages), join(given, 'packages'));
    mkdirSync(join(given, 'packages'));
    expect(await writtenOf({})).toEqual([given, given]);
  });

  test('with projects of elsewhere alone does not', async () => {
    expect(await writtenOf({ 'proj.pth': '# P/src\nO/src\nimport os\n' })).toEqual([undefined, undefined]);
  });
});

describe('a Python outside, in a notebook outside,', () => {
  const writtenOf = (env: Record<string, string>) => {
    const found = { id: '/usr/bin/python3', displayName: 'Python', language: 'python', version: '', source: 'path' as const };
    const inherited = Object.fromEntries(
      Object.entries({ HOME: 'O/home', PATH: '/usr/bin', ...env }).map(([name, text]) => [name, filled(text)]),
    );
    const asked = { folder: outside, sandbox: undefined, allowNet: [] };
    return beginningIn(asked, { ...found, launch: { python: '/usr/bin/python3' } }, inherited).written;
  };

  test.each([
    ['PYTHONPATH', 'O/lib:P/pp'],
    ['PYTHONPATH', 'link/pp'],
    ['PYTHONSTARTUP', 'P/st.py'],
    ['PYTHONUSERBASE', 'P/.local'],
    ['PYTHONPYCACHEPREFIX', 'P/pyc'],
    ['PYTHONPLATLIBDIR', 'P/lib'],
    ['IPYTHONDIR', 'P/ipd'],
    ['HOME', 'P/home'],
  ])('that inherits %s=%s counts as one of there', { tags: ['P-708'] }, (name, text) => {
    expect(writtenOf({ [name]: text })).toBe(given);
  });

  test.each([
    ['', 'ipd'],
    ['profile_default', 'profile'],
    ['profile_default/startup', 'startup'],
    ['profile_default/startup/00.py', 'k.py'],
    ['profile_default/ipython_kernel_config.py', 'k.py'],
  ])('whose ~/.ipython/%s is a link to there does, too', { tags: ['P-708'] }, (place, target) => {
    link(join(outside, 'home/.ipython', place), join(given, target));
    expect(writtenOf({})).toBe(given);
    expect(writtenOf({ IPYTHONDIR: 'O/other' })).toBeUndefined();
  });

  test('that has an activated environment of there, data, or nothing of there, does not', () => {
    expect(writtenOf({ VIRTUAL_ENV: 'P/.venv', PATH: 'P/.venv/bin:/usr/bin', DATA: 'P/k.py', PYTHONPATH: 'O/lib' })).toBeUndefined();
  });
});
