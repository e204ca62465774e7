import { readFileSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject } from '@notebridge/protocol/json';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { writtenBy } from './written-rule.js';

/** A language server for Python that Node runs. */
export interface TypeCheckerProgram {
  name: string;
  version: string;
  /** Its package, by real path. */
  folder: string;
}

export interface FindTypeCheckerOptions {
  /** Folder of the config file; undefined if none was read. */
  configDir: string | undefined;
  /** The variable PATH. */
  path: string | undefined;
  /** Working directory. Programs below it are not ours to run. */
  cwd: string;
  /** A folder of Notebridge's own. Default: that of this code. */
  own?: string;
}

/** Both are JavaScript, of the same source. */
const names = ['pyright', 'basedpyright'];
const entry = 'langserver.index.js';
const ownFolder = dirname(fileURLToPath(import.meta.url));

/**
 * What is run in its place, with its file as the argument. Node's permission model freezes the module `path` for what runs below it, and these
 * programs make their own out of it by assignment. A copy serves them: what they may read is not decided by it.
 */
export const typeCheckerLauncher = `const Module = require('node:module');
const path = require('node:path');
const copy = { ...path, posix: { ...path.posix }, win32: { ...path.win32 } };
const load = Module._load;
Module._load = function (request, ...rest) {
  return request === 'path' || request === 'node:path' ? copy : load.call(this, request, ...rest);
};
require(process.argv[2]);
`;

/**
 * The type checker that is installed beside Notebridge, beside its config file, or as a command on the PATH; undefined if there is none. The
 * working directory is no place to look: an agent may have written what is there. Nothing is run to find it.
 */
export function findTypeChecker({ configDir, path = '', cwd, own = ownFolder }: FindTypeCheckerOptions): TypeCheckerProgram | undefined {
  const folders = [...foldersAbove(own), ...(configDir === undefined ? [] : [configDir])].flatMap((folder) =>
    names.map((name) => join(folder, 'node_modules', name)),
  );
  const commands = path
    .split(delimiter)
    .filter((folder) => isTrusted(folder, cwd))
    .flatMap((folder) => names.map((name) => join(folder, `${name}-langserver`)));
  for (const folder of folders) {
    const found = toProgram(folder);
    if (found !== undefined) return found;
  }
  for (const command of commands) {
    // Of a command that npm has linked, the package is what the link leads to. Any other is a program of its own, which is not run.
    const found = toProgram(dirname(realPathOf(command) ?? command));
    if (found !== undefined) return found;
  }
  return undefined;
}

export interface TypeCheckerPlaces {
  /** All that it reads besides its own package, and where it works. By real path. */
  folder: string;
  /** The folder for temporary files, inside: all that it writes to. */
  temporary: string;
  /** A file with `typeCheckerLauncher`, inside as well. */
  launcher: string;
  memoryMb: number;
}

/** How it is started: it reads and writes nothing else, and starts no program. */
export function typeCheckerCommand({ folder }: TypeCheckerProgram, places: TypeCheckerPlaces): { command: string; args: string[] } {
  const permission = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';
  return {
    command: process.execPath,
    args: [
      `--max-old-space-size=${places.memoryMb}`,
      '--no-warnings',
      permission,
      `--allow-fs-read=${join(folder, '*')}`,
      `--allow-fs-read=${join(places.folder, '*')}`,
      `--allow-fs-write=${join(places.temporary, '*')}`,
      places.launcher,
      join(folder, entry),
      '--stdio',
    ],
  };
}

/** The only variables it gets. */
export function typeCheckerEnvironment({ folder, temporary }: TypeCheckerPlaces): Record<string, string> {
  const { SYSTEMROOT } = process.env;
  const home = { HOME: folder, PATH: temporary, TMPDIR: temporary, TEMP: temporary, TMP: temporary, LC_ALL: 'en_US.UTF-8' };
  return { ...home, ...(SYSTEMROOT === undefined ? {} : { SYSTEMROOT }) };
}

function toProgram(folder: string): TypeCheckerProgram | undefined {
  const real = realPathOf(folder);
  if (real === undefined) return undefined;
  try {
    const about = tryJson(readFileSync(join(real, 'package.json'), 'utf8'));
    if (!isJsonObject(about) || typeof about.name !== 'string' || !names.includes(about.name)) return undefined;
    const isOwn = [real, join(real, entry), join(real, 'dist')].every((path) => isUntouched(path));
    return isOwn && writtenBy(folder) === undefined ? { name: about.name, version: String(about.version), folder: real } : undefined;
  } catch {
    return undefined;
  }
}

/** Only root and we can have changed it. Where the system has no such numbers (Windows), anybody may. */
function isUntouched(path: string): boolean {
  const { uid, mode } = statSync(path);
  const own = process.geteuid?.();
  return own === undefined || ((uid === own || uid === 0) && (mode & 0o002) === 0);
}

/** Not a folder that belongs to what is worked on: `npx` and others put such ones first. */
function isTrusted(folder: string, cwd: string): boolean {
  if (!isAbsolute(folder) || folder.split(sep).includes('node_modules')) return false;
  const isProject = cwd !== homedir() && cwd !== dirname(cwd);
  const way = relative(cwd, folder);
  return !isProject || way.startsWith('..') || isAbsolute(way);
}

function foldersAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersAbove(above)];
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
