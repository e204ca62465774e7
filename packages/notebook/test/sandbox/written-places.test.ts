// @module-tag P-623

/** Where code in a sandbox may have put a program, or words about one: nothing of it runs outside, and no kernel is shown more on its account. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findProgram } from '@notebridge/sandbox/find-program';
import { toKernelSpec } from '@notebridge/sandbox/kernel-spec';
import { findPythonPlaces } from '@notebridge/sandbox/python-places';
import { findSystemFiles } from '@notebridge/sandbox/system-files';
import { recordWritten, writtenFolderOf } from '@notebridge/sandbox/written-folders';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { chooseKernel } from '../../src/kernels/choose-kernel.js';
import type { FoundKernel } from '../../src/kernels/found-kernel.js';
import { KernelFinder } from '../../src/kernels/kernel-finder.js';

let base: string;
/** The folder that code was given to write to. */
let given: string;
/** Beside it: another project, with an environment of its own. */
let other: string;
/** There if something has run. */
let mark: string;

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-written-')));
  [given, other, mark] = [join(base, 'given'), join(base, 'other'), join(base, 'has-run')];
  for (const folder of [given, other, join(base, 'home'), join(base, 'outside')]) mkdirSync(folder);
  environment(join(other, '.venv'), { python: '/usr/bin/python3' });
  writeFileSync(join(other, 'secret'), 'secret');
  await recordWritten(given);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true });
});

/** A program that leaves a mark. */
function program(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho "$0" >> ${mark}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** With ipykernel, as its files say. `python`: what its interpreter is a link to; else it leaves a mark. */
function environment(at: string, { python, config = 'home = /usr/bin' }: { python?: string; config?: string } = {}): string {
  mkdirSync(join(at, 'lib/python3.11/site-packages/ipykernel-6.30.0.dist-info'), { recursive: true });
  writeFileSync(join(at, 'pyvenv.cfg'), `${config}\nversion = 3.11.2\n`);
  mkdirSync(join(at, 'bin'), { recursive: true });
  if (python === undefined) return program(join(at, 'bin/python'));
  symlinkSync(python, join(at, 'bin/python'));
  return join(at, 'bin/python');
}

function conda(at: string): void {
  mkdirSync(join(at, 'conda-meta'), { recursive: true });
  mkdirSync(join(at, 'lib/python3.11/site-packages/ipykernel-6.30.0.dist-info'), { recursive: true });
  program(join(at, 'bin/python'));
}

function link(target: string, at: string): void {
  mkdirSync(dirname(at), { recursive: true });
  symlinkSync(target, at);
}

function spec(folder: string, argv: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'kernel.json'), JSON.stringify({ argv, display_name: 'Written', language: 'python' }));
}

const launch = ['-m', 'ipykernel_launcher', '-f', '{connection_file}'];

interface Place {
  /** Puts the files into place, as code or the person would have done before. */
  put: () => void;
  /** The folder of the notebook. Default: what code was given. */
  notebook?: () => string;
  env?: () => Record<string, string>;
  /** Names and paths that a person, or a notebook, asks for. */
  ids?: () => string[];
}

const inGiven = (...parts: string[]) => join(given, ...parts);
const venvs = ['.venv', 'venv', 'env', 'envs/default', 'sub/.venv'];

const places: Record<string, Place> = {
  ...Object.fromEntries(
    venvs.map((name) => [
      `the interpreter of ${name}`,
      {
        put: () => void environment(inGiven(name)),
        notebook: () => (name.startsWith('sub/') ? inGiven('sub') : given),
        ids: () => [inGiven(name), inGiven(name, 'bin/python')],
      },
    ]),
  ),
  'an environment of conda': { put: () => conda(inGiven('.conda')), ids: () => [inGiven('.conda')] },
  'an environment above the notebook': { put: () => void environment(inGiven('.venv')), notebook: () => made(inGiven('deep/notebooks')) },
  'an environment below the notebook’s folder, which was not given': {
    put: () => void environment(inGiven('.venv')),
    notebook: () => base,
    ids: () => [inGiven('.venv')],
  },
  'an environment that is a link within': {
    put: () => {
      environment(inGiven('hidden/one'));
      link('hidden/one', inGiven('.venv'));
    },
    ids: () => [inGiven('.venv')],
  },
  'an environment that is a link to another project’s': {
    put: () => link(join(other, '.venv'), inGiven('.venv')),
    ids: () => [inGiven('.venv'), inGiven('.venv/bin/python')],
  },
  'an interpreter that is a link to a program': {
    put: () => {
      program(inGiven('program'));
      environment(inGiven('.venv'), { python: '../../program' });
    },
    ids: () => [inGiven('.venv')],
  },
  'an interpreter that is a link to another project’s': {
    put: () => void environment(inGiven('.venv'), { python: join(other, '.venv/bin/python') }),
    ids: () => [inGiven('.venv')],
  },
  'a library that is a link to another project': {
    put: () => {
      environment(inGiven('.venv'), { python: '/usr/bin/python3' });
      link(other, inGiven('.venv/lib/python3.11/site-packages/other'));
    },
    ids: () => [inGiven('.venv')],
  },
  'a path file that names another project': {
    put: () => {
      environment(inGiven('.venv'), { python: '/usr/bin/python3' });
      writeFileSync(inGiven('.venv/lib/python3.11/site-packages/other.pth'), `${other}\nimport os; open(${JSON.stringify(mark)}, "w")\n`);
    },
    ids: () => [inGiven('.venv')],
  },
  'a "home" in another project’s environment': {
    put: () => void environment(inGiven('.venv'), { config: `home = ${join(other, '.venv/bin')}` }),
    ids: () => [inGiven('.venv')],
  },
  'a "home" beside another project': {
    put: () => void environment(inGiven('.venv'), { config: `home = ${join(other, 'bin')}` }),
    ids: () => [inGiven('.venv')],
  },
  'a "home" by a link out of the folder': {
    put: () => {
      link(other, inGiven('python'));
      environment(inGiven('.venv'), { config: `home = ${inGiven('python/bin')}` });
    },
    ids: () => [inGiven('.venv')],
  },
  'packages of the user, asked for by pyvenv.cfg': {
    put: () => {
      environment(inGiven('.venv'), { python: '/usr/bin/python3', config: 'home = /usr/bin\ninclude-system-site-packages = true' });
      mkdirSync(join(base, 'home/.local/lib/python3.11/site-packages'), { recursive: true });
    },
    ids: () => [inGiven('.venv')],
  },
  'an environment of conda by its name': {
    put: () => {
      conda(join(other, 'envs/analysis'));
      mkdirSync(join(base, 'home/.conda'), { recursive: true });
      writeFileSync(join(base, 'home/.conda/environments.txt'), `${join(other, 'envs/analysis')}\n`);
      writeFileSync(inGiven('environment.yml'), 'name: analysis\n');
    },
  },
  'the environment that the shell has activated': {
    put: () => void environment(inGiven('.venv')),
    env: () => ({ VIRTUAL_ENV: inGiven('.venv') }),
  },
  'the activated environment of conda': { put: () => conda(inGiven('c')), env: () => ({ CONDA_PREFIX: inGiven('c') }) },
  'python3 on PATH': { put: () => void program(inGiven('.venv/bin/python3')), env: () => ({ PATH: inGiven('.venv/bin') }) },
  'python on PATH, by a link outside': {
    put: () => {
      program(inGiven('bin/python3'));
      link(inGiven('bin'), join(base, 'outside/bin'));
    },
    env: () => ({ PATH: join(base, 'outside/bin') }),
  },
  'uv, bwrap and python on PATH': {
    put: () => {
      for (const name of ['uv', 'bwrap', 'python']) program(inGiven('tools', name));
    },
    env: () => ({ PATH: inGiven('tools') }),
  },
  'a program that is named by its path': { put: () => void program(inGiven('python')), ids: () => [inGiven('python')] },
  'a program by a link outside': {
    put: () => {
      program(inGiven('bin/python'));
      link(inGiven('bin/python'), join(base, 'outside/python'));
    },
    ids: () => [join(base, 'outside/python')],
  },
  'an environment by a link outside': {
    put: () => {
      environment(inGiven('.venv'));
      link(inGiven('.venv'), join(base, 'outside/env'));
    },
    ids: () => [join(base, 'outside/env')],
  },
  'an interpreter of an environment outside': {
    put: () => {
      program(inGiven('built/bin/python'));
      environment(join(base, 'outside/env'), { python: inGiven('built/bin/python') });
    },
    ids: () => [join(base, 'outside/env')],
  },
  'the library of an environment outside': {
    put: () => {
      program(inGiven('built/bin/python'));
      environment(join(base, 'outside/env'), { config: `home = ${inGiven('built/bin')}` });
    },
    ids: () => [join(base, 'outside/env')],
  },
  'a kernelspec in a folder of JUPYTER_PATH': {
    put: () => spec(inGiven('jupyter/kernels/written'), [program(inGiven('python3')), ...launch]),
    env: () => ({ JUPYTER_PATH: inGiven('jupyter') }),
    ids: () => ['written'],
  },
  'a kernelspec there that names another project’s Python': {
    put: () => spec(inGiven('jupyter/kernels/written'), [join(other, '.venv/bin/python'), ...launch]),
    env: () => ({ JUPYTER_PATH: inGiven('jupyter') }),
    ids: () => ['written'],
  },
  'a kernelspec of the activated environment': {
    put: () => {
      environment(inGiven('.venv'));
      spec(inGiven('.venv/share/jupyter/kernels/written'), ['python', ...launch]);
    },
    env: () => ({ VIRTUAL_ENV: inGiven('.venv') }),
    ids: () => ['written'],
  },
  'a kernelspec outside that is a link': {
    put: () => {
      spec(inGiven('spec'), [program(inGiven('python3')), ...launch]);
      link(inGiven('spec'), join(base, 'home/.local/share/jupyter/kernels/written'));
    },
    ids: () => ['written'],
  },
  'the program of a kernelspec outside': {
    put: () => spec(join(base, 'home/.local/share/jupyter/kernels/written'), [program(inGiven('python3')), ...launch]),
    ids: () => ['written'],
  },
  'Jupyter’s folder of the user, replaced by a link': {
    put: () => {
      environment(inGiven('.venv'), { python: '/usr/bin/python3' });
      link(other, inGiven('data/kernels'));
    },
    env: () => ({ JUPYTER_DATA_DIR: inGiven('data') }),
    ids: () => [inGiven('.venv')],
  },
};

function made(folder: string): string {
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** As the program looks for kernels, with all that is found trusted and chosen. */
async function look({ notebook, env, ids }: Place): Promise<FoundKernel[]> {
  const variables = { HOME: join(base, 'home'), PATH: '', ...env?.() };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const finder = new KernelFinder({ folder: notebook?.() ?? given, env: variables, systemFolders: [] });
  const trust = { has: () => true, add: async () => {}, remove: async () => {} };
  const { kernel } = await chooseKernel(finder, { kernelspec: { name: 'written', language: 'python' } }, trust);
  const asked = await Promise.all((ids?.() ?? []).map((id) => finder.find(id)));
  for (const name of ['uv', 'bwrap', 'python', 'python3']) expect(findProgram(name, variables.PATH)).toBeUndefined();
  return [kernel, ...(await finder.all()), ...asked.filter((found) => found !== undefined)];
}

/** All that the sandbox of a kernel would be shown, for each way to give the folder. A refusal shows nothing. */
async function shownTo({ launch: how }: FoundKernel, folder: string): Promise<string[]> {
  if (!how) return [];
  const shown = await Promise.all(
    (['none', 'ro', 'rw'] as const).map(async (files) => {
      const made = await toKernelSpec({ ...how, args: [], folder, files }).catch(() => undefined);
      return made ? [made.command[0], ...made.readable, ...(made.mounts ?? []).map(({ path }) => path)] : [];
    }),
  );
  return [...new Set(shown.flat())];
}

describe('of what code may have written', () => {
  test.each(Object.entries(places))('%s is not run by looking, and shows nothing more', async (_, place) => {
    place.put();
    const folder = place.notebook?.() ?? given;
    const found = await look(place);
    const shown = (await Promise.all(found.map((each) => shownTo(each, folder)))).flat();
    for (const each of found)
      if (each.launch && writtenFolderOf(each.launch.python) !== undefined) expect(each.written, each.id).toBe(given);
    expect(existsSync(mark)).toBe(false);
    const mayBeSeen = [given, ...findSystemFiles(), join(base, 'home/.local/share/jupyter/kernels')];
    const all = shown.flatMap((path) => [path, realpathSync(path)]);
    expect(all.filter((path) => !mayBeSeen.some((allowed) => `${path}/`.startsWith(`${allowed}/`)))).toEqual([]);
  });

  test('there are thirty places and more', () => {
    expect(Object.keys(places).length).toBeGreaterThanOrEqual(30);
  });

  test('an environment made of an installed Python is a kernel as before, in its folder and with that Python', async () => {
    const python = environment(inGiven('.venv'), { python: '/usr/bin/python3' });
    const { executable, own } = await findPythonPlaces(python);
    expect(executable).toBe(python);
    expect(own).toEqual([inGiven('.venv'), '/usr/bin', '/usr/lib']);
  });

  test.each(['an environment of another project', 'the folder of the user’s own programs'])(
    'of %s that it names as its Python only what runs one is shown',
    async (what) => {
      const prefix = join(base, what.startsWith('an') ? 'other/env' : 'home/.local');
      const library = join(prefix, 'lib/python3.11');
      for (const folder of ['bin', 'lib/python3.11/site-packages', 'lib/other-app', 'conda-meta'])
        mkdirSync(join(prefix, folder), { recursive: true });
      const files = ['bin/python3.11', 'bin/deploy', 'lib/python3.11/os.py', 'lib/libpython3.11.so.1.0', 'lib/secret.txt'];
      for (const file of [...files, 'lib/python3.11/site-packages/private.py']) writeFileSync(join(prefix, file), '');
      const python = environment(inGiven('.venv'), { python: join(prefix, 'bin/python3.11'), config: `home = ${join(prefix, 'bin')}` });
      for (const files of ['ro', 'rw'] as const) {
        const { readable, hidden } = await toKernelSpec({ python, args: [], folder: given, files });
        const ofIt = readable.filter((path) => path.startsWith(prefix)).sort();
        expect(ofIt).toEqual(['bin/python3.11', 'lib/libpython3.11.so.1.0', 'lib/python3.11'].map((path) => join(prefix, path)));
        expect(hidden).toContain(join(library, 'site-packages'));
      }
    },
  );
});
