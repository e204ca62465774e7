import { homedir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { entriesIn, namesIn, realPathOf } from './seen-files.js';
import { readSmallFile } from './small-file.js';

/** A path file, or one that names many modules of a project. */
const maxBytes = 1024 * 1024;

/**
 * The places from which a Python takes modules as it starts: where packages are installed, which may be a link, and projects that were installed
 * to be edited, by lines of path files, by finders or by links. They are read as files: to ask the Python would run what is there. `env`: what it
 * is started with.
 */
export function findImportPlaces(python: string, env: NodeJS.ProcessEnv = process.env): string[] {
  const { libraries, packages } = findLibraries(python, env);
  return [...libraries, ...packages.flatMap((folder) => [folder, ...findNamedPlaces(folder)])];
}

/** Where its own library is, if that is said, and where packages are installed. */
function findLibraries(python: string, env: NodeJS.ProcessEnv): { libraries: string[]; packages: string[] } {
  const { HOME, PYTHONHOME, PYTHONUSERBASE, PYTHONPLATLIBDIR } = env;
  const prefix = dirname(dirname(python));
  const config = readSmallFile(join(prefix, 'pyvenv.cfg'));
  const settingOf = (name: string) => new RegExp(`^\\s*${name}\\s*=\\s*(.*?)\\s*$`, 'im').exec(config ?? '')?.[1];
  const home = settingOf('home');
  const real = realPathOf(python);
  // Some environments see those of the Python that they were made of, and its user's; to ask each which costs more than to look.
  const prefixes = [
    prefix,
    ...(PYTHONHOME ? PYTHONHOME.split(delimiter) : []),
    ...(home === undefined ? [] : [dirname(home)]),
    ...(real === undefined ? [] : [dirname(dirname(real))]),
  ];
  const all = [...prefixes, ...(prefixes.includes('/usr') ? ['/usr/local'] : []), PYTHONUSERBASE || join(HOME || homedir(), '.local')];
  const seen = settingOf('include-system-site-packages')?.toLowerCase() === 'false' ? [prefix] : all;
  const libraries = [...new Set(seen)].flatMap((each) =>
    entriesIn(join(each, 'lib'))
      .filter(({ name }) => /^(python|pypy)3/.test(name))
      .map(({ name }) => join(each, 'lib', name)),
  );
  return {
    libraries: [
      ...(home === undefined ? [] : [home]),
      ...(PYTHONPLATLIBDIR ? prefixes.map((each) => resolve(each, PYTHONPLATLIBDIR)) : []),
    ],
    packages: libraries.flatMap((library) => ['site-packages', 'dist-packages'].map((name) => join(library, name))),
  };
}

function findNamedPlaces(folder: string): string[] {
  const entries = entriesIn(folder);
  const links = linksIn(folder);
  const lines = entries.filter(({ name }) => name.endsWith('.pth')).flatMap(({ name }) => readLines(join(folder, name)));
  const imports = lines.filter((line) => /^import\s/.test(line));
  const modules = imports.flatMap((line) =>
    [...line.matchAll(/(?:\bimport\s+|,\s*)(\w+)/g)].map(([, name = '']) => join(folder, `${name}.py`)),
  );
  const finders = entries.filter(({ name }) => /^_+editable.*\.py$/.test(name)).map(({ name }) => join(folder, name));
  const code = [...imports, ...[...new Set([...modules, ...finders])].flatMap(readLines)];
  const quoted = code.flatMap((line) => [...line.matchAll(/"(\/[^"]*)"|'(\/[^']*)'/g)].map(([, one, other]) => one ?? other ?? ''));
  const plain = lines.filter((line) => line.trim() !== '' && !line.startsWith('#') && !imports.includes(line));
  const added = plain.map((line) => (line.startsWith('/') ? line : `${folder}/${line}`));
  return [...links, ...added.flatMap((place) => [place, ...linksIn(place)]), ...quoted];
}

function linksIn(folder: string): string[] {
  return entriesIn(folder)
    .filter((entry) => entry.isSymbolicLink())
    .map(({ name }) => join(folder, name));
}

function readLines(path: string): string[] {
  const text = readSmallFile(path, maxBytes) ?? '';
  return text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd());
}

/** The programs that a shim of pyenv, asdf or mise, or `pyenv` itself, may start: in each Python that is installed. Empty for any other program. */
export function findBehindShim(program: string): string[] {
  if (basename(dirname(program)) !== 'shims' && basename(program) !== 'pyenv') return [];
  const root = dirname(dirname(program));
  return ['versions', 'installs/python'].flatMap((folder) =>
    namesIn(join(root, folder)).flatMap((version) => ['python', basename(program)].map((name) => join(root, folder, version, 'bin', name))),
  );
}

/**
 * The files of IPython's own folder that it runs, or takes as settings, as each kernel starts. Each may be a link, and whatever is there is code. `env`: of
 * the kernel.
 */
export function findIpythonPlaces(env: Readonly<Record<string, string | undefined>>): string[] {
  const folder = env.IPYTHONDIR || join(env.HOME || homedir(), '.ipython');
  const profile = join(folder, 'profile_default');
  const startup = join(profile, 'startup');
  const settings = ['ipython_config', 'ipython_kernel_config'].flatMap((name) => [`${name}.py`, `${name}.json`]);
  return [...[...settings, 'startup'].map((name) => join(profile, name)), ...namesIn(startup).map((name) => join(startup, name))];
}
