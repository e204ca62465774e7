import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { assertMayBeGiven, assertMayBeWritten } from './given-folder.js';
import { findFileDoors, findHiddenPlaces } from './hidden-places.js';
import { outermost } from './outermost.js';
import { findKernelspecPlaces, findPythonPlaces, userDataFolder } from './python-places.js';
import type { FolderAccess, Mount, RunPlace, SandboxSpec } from './spec.js';
import { homeInside, temporaryInside } from './system-files.js';
import { leadsOutOfWritten, recordWritten } from './written-folders.js';

export interface KernelSpecOptions {
  /** An interpreter, by absolute path. It is run, outside, to be asked where its modules are: one that is trusted. */
  readonly python: string;
  /** What it is started with. */
  readonly args: readonly string[];
  /** The folder of the notebook, by its real path: see `assertIsReal`. */
  readonly folder: string;
  /** Default `none`: the kernel begins in an empty folder. */
  readonly files?: FolderAccess | undefined;
  /** The kernelspec that it starts: what its program reads is given too. */
  readonly kernelName?: string | undefined;
  /** More that may be read: the helper's own files. */
  readonly readable?: readonly string[] | undefined;
  /** Where this program keeps its state, tokens and logs: never visible. */
  readonly ours?: readonly string[] | undefined;
  /** The files and folders that this program runs or imports, as its config names them: code may not write there. Default: none. */
  readonly runs?: readonly RunPlace[] | undefined;
  readonly maxDataBytes?: number | undefined;
}

/**
 * What the kernel of an interpreter needs in a sandbox. Rejects where `python` is no Python, and for a folder that cannot be given: `/`,
 * one of the system's, the home folder and what is above it, one that keys are kept in.
 */
export async function toKernelSpec(options: KernelSpecOptions): Promise<SandboxSpec> {
  const { python, args, files = 'none', kernelName, readable = [], ours = [], runs = [], maxDataBytes } = options;
  const folder = files === 'none' ? undefined : options.folder;
  if (folder !== undefined) assertIsReal(folder);
  if (folder !== undefined) assertMayBeGiven(folder, ours);
  const writable = files === 'rw' ? folder : undefined;
  if (writable !== undefined) assertMayBeWritten(writable, { ours, runs });
  const places = await findPythonPlaces(python, writable);
  const mounts: Mount[] = folder === undefined || files === 'none' ? [] : [{ path: folder, access: files }];
  const kernels = findKernelFolders();
  // What the person edits in the folder is not the environment.
  const others = places.others.filter((path) => folder === undefined || !`${path}/`.startsWith(`${folder}/`));
  const ofKernel = kernelName === undefined ? [] : await findKernelspecPlaces(kernelName, places.prefix);
  const named = [...places.own, ...others, ...readable, ...kernels, ...ofKernel];
  const shown = [...new Set(named.filter((path) => !leadsOutOfWritten(path) || places.own.includes(path)))];
  // A link of the folder is there with the folder, and what it leads to is shown by its own path.
  const direct = shown.filter((path) => folder === undefined || !isLinkBelow(folder, path));
  if (writable !== undefined && shown.includes(writable)) throw isItsEnvironment(writable);
  const kept = writable === undefined ? [] : findKept(writable);
  if (writable !== undefined) await recordWritten(writable);
  return {
    command: [writable !== undefined ? toRealEnvironment(places) : places.executable, ...args],
    readable: direct,
    folder: folder ?? homeInside,
    programs: true,
    mounts,
    hidden: outermost([
      ...(places.hidden ?? []),
      ...findHiddenPlaces([...mounts.map(({ path }) => path), ...shown], ours),
      ...findFileDoors(mounts.map(({ path }) => path)),
    ]),
    kept,
    environment: environmentOf(places.prefix, places.userBase, kernels),
    ...(maxDataBytes === undefined ? {} : { maxDataBytes }),
  };
}

/** Throws where a part of the path is a link: whoever may write to the folder above could have put it there, to be given another folder. */
function assertIsReal(folder: string): void {
  const real = realpathSync(folder);
  if (real === folder) return;
  throw new Error(
    `The folder "${folder}" is given to no kernel: a part of its path is a link now, which leads to "${real}". Put the folder back, or open the notebook there`,
  );
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
  const kept = [...environments, '.git', '.vscode', '.idea', '.devcontainer', '.husky', '.envrc', '.mcp.json', 'mcp.json']
    .map((name) => ({ path: join(folder, name), found: lstatSync(join(folder, name), { throwIfNoEntry: false }) }))
    .filter(({ found }) => found !== undefined);
  const link = kept.find(({ found }) => found?.isSymbolicLink());
  if (link) throw isLinkInPlace(folder, link.path);
  return kept.map(({ path }) => path);
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
    TMPDIR: temporaryInside,
    // What cannot be reached is not tried six times, each with lines of its own.
    PIP_RETRIES: '0',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PATH: [join(prefix, 'bin'), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    ...(existsSync(join(prefix, 'pyvenv.cfg')) ? { VIRTUAL_ENV: prefix } : {}),
    ...(userBase === undefined ? {} : { PYTHONUSERBASE: userBase }),
    ...(kernels.length === 0 ? {} : { JUPYTER_PATH: kernels.map((path) => join(path, '..')).join(delimiter) }),
  };
}

function isLinkBelow(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`) && realpathSync(path) !== path;
}

/** Whoever can replace a link decides what programs find there. */
function isLinkInPlace(folder: string, path: string): Error {
  return new Error(
    `"--files rw" cannot give "${folder}" to the kernel: "${path}" is a link now, and a link cannot be kept from code. Put a folder or file in its place, or use "--files ro"`,
  );
}

function isItsEnvironment(folder: string): Error {
  const reason = 'it is the environment of its Python';
  return new Error(`"--files rw" cannot give "${folder}" to the kernel: ${reason}. Choose a Python by a path outside, or use "--files ro"`);
}
