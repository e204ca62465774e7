import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { realPathOf } from '@notebridge/system/starts/seen-files';
import { outermost } from './outermost.js';
import { findLinks } from './program-links.js';
import { askPython } from './site-packages.js';
import { leadsOutOfWritten } from './written-folders.js';
import { findWrittenPlaces, writtenFolderOfPython } from './written-python.js';

/** Where an interpreter has itself and its modules. */
export interface PythonPlaces {
  /** Its own files and folders, by the paths by which it reads them. */
  own: string[];
  /** Where it looks for modules besides: projects that were installed to be edited. */
  others: string[];
  /** Folders in those that are not its own: never visible. Left out: none. */
  hidden?: string[];
  /** The program itself, which may have been asked for by a script of a version manager. */
  executable: string;
  /** The environment's own folder, where `bin` is. */
  prefix: string;
  /** Where its user's own packages are. */
  userBase?: string;
}

const question = `
import json, site
own = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
given = lambda paths: [os.path.abspath(p) for p in paths if p and os.path.isabs(p)]
user = getattr(site, "ENABLE_USER_SITE", False) and site.getuserbase()
json.dump({"executable": sys.executable, "prefix": sys.prefix, "own": given(own), "paths": given(sys.path), "user": user or None}, sys.stdout)
`;

/**
 * Asks an interpreter, which is run for that and has to be one that is trusted; one that code may have written is known by its files alone.
 * `given`: a folder that code is about to be given. Rejects with what it said if it is none. A place above the home folder is left out: it would show everything.
 */
export async function findPythonPlaces(python: string, given?: string): Promise<PythonPlaces> {
  const written = writtenFolderOfPython(python, given);
  if (written !== undefined) return findWrittenPlaces(python, written);
  const { error, stdout, stderr } = await askPython(python, question);
  if (error) throw new Error(`"${python}" does not run as a Python: ${stderr.trim() || error.message}`);
  const { executable, prefix, own, paths, user } = withoutLinkedFolder(
    JSON.parse(stdout) as {
      executable: string;
      prefix: string;
      own: string[];
      paths: string[];
      user: string | null;
    },
  );
  const ofUser = user === null ? [] : [`${user}/lib`];
  const first = toReadable([...own, ...ofUser, ...findLinks(executable)]);
  const others = toReadable(paths).filter((path) => !first.some((folder) => path === folder || path.startsWith(`${folder}/`)));
  const hasOfUser = user !== null && realPathOf(`${user}/lib`) !== undefined;
  return { executable, own: first, others, prefix, ...(hasOfUser ? { userBase: user } : {}) };
}

/** Each path, and what it really is. */
function toReadable(paths: readonly string[]): string[] {
  const home = `${homedir()}/`;
  const believed = paths.filter((path) => !leadsOutOfWritten(path));
  const all = [...new Set(believed.flatMap((path) => [path, realPathOf(path)]))];
  const fit = all.filter(
    (path): path is string => path !== undefined && realPathOf(path) !== undefined && path !== '/' && !home.startsWith(`${path}/`),
  );
  return outermost(fit);
}

/**
 * An environment that is reached by a link keeps the name by which it was asked for, unless its program is a relative link that leads
 * out of it: in the sandbox that would be followed from the name, where it leads nowhere. Then it is used where it really is.
 */
function withoutLinkedFolder<Facts extends { executable: string; prefix: string }>(facts: Facts): Facts {
  const { executable, prefix } = facts;
  const real = realPathOf(prefix);
  if (real === undefined || real === prefix || !leadsOut(executable, prefix)) return facts;
  return { ...facts, prefix: real, executable: real + executable.slice(prefix.length) };
}

function leadsOut(program: string, prefix: string): boolean {
  for (let path = program, count = 0; count < 40 && path.startsWith(`${prefix}/`) && lstatSync(path).isSymbolicLink(); count++) {
    const target = readlinkSync(path);
    const next = resolve(dirname(path), target);
    if (!isAbsolute(target) && !next.startsWith(`${prefix}/`)) return true;
    path = next;
  }
  return false;
}

/** Where users' own kernelspecs are, as `jupyter --paths` has it on Linux. */
export function userDataFolder(): string {
  const { JUPYTER_DATA_DIR: named, XDG_DATA_HOME: data } = process.env;
  return named || join(data || join(homedir(), '.local/share'), 'jupyter');
}

/**
 * What the program of a kernelspec reads, where that is another one than the interpreter that starts it. The first one of the name, in the
 * order in which Jupyter looks.
 */
export async function findKernelspecPlaces(name: string, prefix: string): Promise<string[]> {
  const bases = [userDataFolder(), join(prefix, 'share/jupyter'), '/usr/local/share/jupyter', '/usr/share/jupyter'];
  const folder = bases.map((base) => join(base, 'kernels', name)).find((path) => existsSync(join(path, 'kernel.json')));
  if (folder === undefined) return [];
  const [program = ''] = readProgram(join(folder, 'kernel.json'));
  if (!isAbsolute(program) || !existsSync(program)) return [folder];
  if (/^python[\d.]*$/.test(basename(program))) {
    const { own, others } = await findPythonPlaces(program);
    return [folder, ...own, ...others];
  }
  return [folder, basename(dirname(program)) === 'bin' && dirname(dirname(program)) !== '/' ? dirname(dirname(program)) : program];
}

function readProgram(path: string): string[] {
  try {
    const { argv } = JSON.parse(readFileSync(path, 'utf8')) as { argv?: unknown };
    return Array.isArray(argv) ? argv.map(String) : [];
  } catch {
    // The helper says what is wrong with it.
    return [];
  }
}
