import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFileDoors } from './file-doors.js';
import { findHiddenPlaces } from './hidden-places.js';
import { findKernelspecPlaces, userDataFolder } from './kernelspec-places.js';
import { outermost } from './outermost.js';
import { findPythonPlaces } from './python-places.js';
import type { FolderAccess, Mount, SandboxSpec } from './spec.js';
import { homeInside } from './system-files.js';

export interface KernelSpecOptions {
  /** An interpreter, by absolute path. It is run, outside, to be asked where its modules are: one that is trusted. */
  readonly python: string;
  /** What it is started with. */
  readonly args: readonly string[];
  /** The folder of the notebook. */
  readonly folder: string;
  /** Default `none`: the kernel begins in an empty folder. */
  readonly files?: FolderAccess | undefined;
  /** The kernelspec that it starts: what its program reads is given too. */
  readonly kernelName?: string | undefined;
  /** More that may be read: the helper's own files. */
  readonly readable?: readonly string[] | undefined;
  /** Where this program keeps its state, tokens and logs: never visible. */
  readonly ours?: readonly string[] | undefined;
  readonly maxDataBytes?: number | undefined;
}

/**
 * What the kernel of an interpreter needs in a sandbox. Rejects where `python` is no Python, and for a folder that cannot be given: `/`,
 * one of the system's, the home folder and what is above it, one that keys are kept in.
 */
export async function toKernelSpec(options: KernelSpecOptions): Promise<SandboxSpec> {
  const { python, args, files = 'none', kernelName, readable = [], ours = [], maxDataBytes } = options;
  const places = await findPythonPlaces(python);
  const folder = files === 'none' ? undefined : realpathSync(options.folder);
  const mounts: Mount[] = folder === undefined || files === 'none' ? [] : [{ path: folder, access: files }];
  const kernels = findKernelFolders();
  // What the person edits in the folder is not the environment.
  const others = places.others.filter((path) => folder === undefined || !`${path}/`.startsWith(`${folder}/`));
  const ofKernel = kernelName === undefined ? [] : await findKernelspecPlaces(kernelName, places.prefix);
  const shown = [...new Set([...places.own, ...others, ...readable, ...kernels, ...ofKernel])];
  if (folder !== undefined) assertMayBeGiven(folder, ours);
  // A link of the folder is there with the folder, and what it leads to is shown by its own path.
  const direct = shown.filter((path) => folder === undefined || !isLinkBelow(folder, path));
  if (folder !== undefined && files === 'rw') assertKeepsPython(folder, shown, direct);
  return {
    command: [files === 'rw' ? toRealEnvironment(places) : places.executable, ...args],
    readable: direct,
    folder: folder ?? homeInside,
    programs: true,
    mounts,
    hidden: outermost([
      ...findHiddenPlaces([...mounts.map(({ path }) => path), ...shown], ours),
      ...findFileDoors(mounts.map(({ path }) => path)),
    ]),
    kept: files === 'rw' && folder !== undefined ? findKept(folder) : [],
    environment: environmentOf(places.prefix, places.userBase, kernels),
    ...(maxDataBytes === undefined ? {} : { maxDataBytes }),
  };
}

/** The program is mounted below a folder that is written to; nothing can be mounted below a link in it. */
function toRealEnvironment({ executable, prefix }: { executable: string; prefix: string }): string {
  return executable.startsWith(`${prefix}/`) ? realpathSync(prefix) + executable.slice(prefix.length) : executable;
}

/** What other programs run when the person uses the folder: code may not write it for them. All of `.git`: what is run may be named in several of its files. */
function findKept(folder: string): string[] {
  const environments = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && ['pyvenv.cfg', 'conda-meta'].some((mark) => existsSync(join(folder, entry.name, mark))))
    .map(({ name }) => name);
  return [
    ...environments,
    '.git',
    '.vscode',
    '.idea',
    '.devcontainer',
    '.husky',
    '.envrc',
    '.mcp.json',
    'mcp.json',
    ...findOurselves(folder),
  ]
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path) && realpathSync(path) === path);
}

/** This program, where it is installed in the folder (`node_modules`): what the next start would run. */
function findOurselves(folder: string): string[] {
  const own = [process.execPath, fileURLToPath(import.meta.url)].map((path) => realpathSync(path));
  return own.filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length + 1).split('/')[0] ?? '');
}

/** Kernels that the user has installed are found there; their files name the programs to start. */
function findKernelFolders(): string[] {
  return [join(userDataFolder(), 'kernels')].filter((path) => existsSync(path));
}

function environmentOf(prefix: string, userBase: string | undefined, kernels: readonly string[]): { [name: string]: string } {
  return {
    HOME: homeInside,
    USER: 'nobody',
    LANG: 'C.UTF-8',
    TMPDIR: '/tmp',
    PATH: [join(prefix, 'bin'), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    ...(existsSync(join(prefix, 'pyvenv.cfg')) ? { VIRTUAL_ENV: prefix } : {}),
    ...(userBase === undefined ? {} : { PYTHONUSERBASE: userBase }),
    ...(kernels.length === 0 ? {} : { JUPYTER_PATH: kernels.map((path) => join(path, '..')).join(delimiter) }),
  };
}

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

function isLinkBelow(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`) && realpathSync(path) !== path;
}

/** What is started outside at the next start has to be what it is now. */
function assertKeepsPython(folder: string, shown: readonly string[], direct: readonly string[]): void {
  if (shown.includes(folder)) throw notToWrite(folder, 'it is the environment of its Python');
  const link = shown.find((path) => !direct.includes(path));
  if (link !== undefined) throw notToWrite(folder, `its Python is found by the link "${link}", which code could replace`);
}

function notToWrite(folder: string, reason: string): Error {
  return new Error(`"--files rw" cannot give "${folder}" to the kernel: ${reason}. Choose a Python by a path outside, or use "--files ro"`);
}

/** Throws for a folder, by its real path, that no kernel is given: `/`, one of the system's, one that keys are kept in. */
export function assertMayBeGiven(folder: string, ours: readonly string[]): void {
  const because = (reason: string) =>
    new Error(
      `"--files" cannot give "${folder}" to the kernel: ${reason}. Move the notebook to a folder of its own, or use "--files none"`,
    );
  if (folder === '/') throw because('it is the whole machine');
  if (ofSystem.includes(folder)) throw because('it is one of the system');
  // What runs by itself and what has keys are in too many places there, and a file that is replaced cannot be kept covered.
  const home = findHomes().find((path) => `${path}/`.startsWith(`${folder}/`));
  if (home !== undefined)
    throw because(`${folder === home ? 'it is' : 'below it is'} your home folder, with your keys and what your shell runs`);
  const keys = findHiddenPlaces(['', homedir()], ours).find((path) => folder === path || folder.startsWith(`${path}/`));
  if (keys !== undefined) throw because(`"${keys}" is never shown to a kernel, since keys or tokens are kept there`);
}
