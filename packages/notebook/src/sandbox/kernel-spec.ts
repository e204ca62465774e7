import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
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
 * one of the system's, one that keys are kept in.
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
  return {
    command: [places.executable, ...args],
    readable: shown,
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

/** What other programs run when the person uses the folder: code may not write it for them. */
function findKept(folder: string): string[] {
  const environments = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && ['pyvenv.cfg', 'conda-meta'].some((mark) => existsSync(join(folder, entry.name, mark))))
    .map(({ name }) => name);
  return [...environments, '.git/hooks', '.git/config', '.vscode', '.idea', '.envrc']
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path) && realpathSync(path) === path);
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

function assertMayBeGiven(folder: string, ours: readonly string[]): void {
  const because = (reason: string) =>
    new Error(
      `"--files" cannot give "${folder}" to the kernel: ${reason}. Move the notebook to a folder of its own, or use "--files none"`,
    );
  if (folder === '/') throw because('it is the whole machine');
  if (ofSystem.includes(folder)) throw because('it is one of the system');
  const keys = findHiddenPlaces(['', homedir()], ours).find((path) => folder === path || folder.startsWith(`${path}/`));
  if (keys !== undefined) throw because(`"${keys}" is never shown to a kernel, since keys or tokens are kept there`);
}
