import { existsSync, realpathSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { findWritten, isWithin } from '@notebridge/system/starts/find-written';
import { realPathOf, textIn } from '@notebridge/system/starts/seen-files';
import { findHiddenPlaces } from './hidden-places.js';
import type { RunPlace } from './spec.js';

const ofSystem = ['/usr', '/etc', '/bin', '/sbin', '/lib', '/lib64', '/proc', '/sys', '/dev', '/run', '/var', '/boot', '/nix', '/gnu'];

/** As the variable has it, and as the system does. */
function findHomes(): string[] {
  const ofSystem = () => {
    try {
      return userInfo().homedir;
    } catch {
      // A user without a name, as in many a container.
      return '';
    }
  };
  return [homedir(), ofSystem()].filter((path) => existsSync(path)).map((path) => realpathSync(path));
}

/** Throws for a folder, by its real path, that no kernel is given: `/`, one of the system's, one that keys are kept in. */
export function assertMayBeGiven(folder: string, ours: readonly string[]): void {
  const because = (reason: string) =>
    new Error(
      `"--files" cannot give "${folder}" to the kernel: ${reason}. Move the notebook to a folder of its own, or use "--files none"`,
    );
  if (folder === '/') throw because('it is the whole machine');
  if (ofSystem.includes(folder)) throw because('it is one of the system');
  // Too many files below a home folder run by themselves or hold keys, and a file that is replaced cannot be kept covered.
  const home = findHomes().find((path) => `${path}/`.startsWith(`${folder}/`));
  if (home !== undefined)
    throw because(`${folder === home ? 'it is' : 'below it is'} your home folder, with your keys and what your shell runs`);
  const keys = findHiddenPlaces(['', homedir()], ours).find((path) => folder === path || folder.startsWith(`${path}/`));
  if (keys !== undefined) throw because(`"${keys}" is never shown to a kernel, since keys or tokens are kept there`);
}

/**
 * Throws for a folder, by its real path, that no code may write to, though it may read there: what all programs share, a home folder, and
 * what this program runs, imports, or takes as configuration.
 */
export function assertMayBeWritten(folder: string, { ours, runs }: { ours: readonly string[]; runs: readonly RunPlace[] }): void {
  const reason = whyShared(folder) ?? whyRun(folder, [...runs, ...findOurs(ours)]);
  if (reason === undefined) return;
  throw new Error(
    `"--files rw" cannot give "${folder}" to the kernel: ${reason}. Move the notebook to a folder of its own, or use "--files ro"`,
  );
}

/** Folders that programs of all kinds, ours too, keep things in for a while. */
const shared = ['/tmp', '/var/tmp', '/dev/shm'];

function whyShared(folder: string): string | undefined {
  if (/^\/run\/user(\/\d+)?$/.test(folder)) return 'it holds what programs of a user keep while they run';
  const temporary = [tmpdir(), ...shared, process.env.XDG_RUNTIME_DIR ?? ''].map(realPathOf);
  const found = temporary.find((path) => path !== undefined && isWithin(path, folder));
  if (found !== undefined)
    return `${found === folder ? 'it is' : `"${found}" in it is`} a folder for temporary files, which programs share, Notebridge too`;
  if (folder === '/home' || /^\/home\/[^/]+$/.test(folder) || findHomesOfAll().includes(folder))
    return 'it is a home folder, or holds them';
  return undefined;
}

/** The home folders of all people on this machine, and of root; none where the list of users cannot be read. */
function findHomesOfAll(): string[] {
  const lines = (textIn('/etc/passwd') ?? '').split('\n');
  const users = lines.map((line) => line.split(':')).filter(([, , id]) => id === '0' || Number(id) >= 1000);
  return users.flatMap(([, , , , , home]) => (home === undefined || home === '/' ? [] : [realPathOf(home) ?? home]));
}

function findOurs(ours: readonly string[]): RunPlace[] {
  return [
    ...ours.map((path) => ({ path, what: 'what Notebridge keeps or reads as its configuration' })),
    { path: process.execPath, what: 'the program that runs Notebridge' },
    { path: process.argv[1] ?? process.execPath, what: 'Notebridge itself' },
    { path: fileURLToPath(new URL('../..', import.meta.url)), what: 'Notebridge itself', isFolder: true },
  ];
}

function whyRun(folder: string, places: readonly RunPlace[]): string | undefined {
  const found = places.find(
    ({ path, isFolder = false }) => findWritten(path, [folder]) !== undefined || (isFolder && isWithin(folder, realPathOf(path) ?? path)),
  );
  return found && `code could change "${found.path}" then, which is ${found.what}`;
}
