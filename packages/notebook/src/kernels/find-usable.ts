import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { nearest } from '@notebridge/protocol/util/did-you-mean';
import { pythonOf } from '@notebridge/sandbox/environment';
import { shellWord } from '@notebridge/system/starts/shell-word';
import { parseNotebook } from '../model/nbformat.js';
import { HostError } from '../session/host-error.js';
import { chooseKernel, type FolderTrust, type KernelDecision } from './choose-kernel.js';
import type { FoundKernel } from './found-kernel.js';
import type { Variables } from './jupyter-folders.js';
import { KernelFinder, type KernelFinderOptions } from './kernel-finder.js';

export type UsableKernelOptions = Pick<KernelFinderOptions, 'folder' | 'env'>;

/**
 * Whether a kernel could be opened, before anything is: for those who write it down. Returns it as it is to be written: the name of no
 * kernel, but of an environment in the working directory, becomes a path. Rejects as opening a notebook with it would.
 */
export async function toUsableKernel(id: string, { folder, env }: UsableKernelOptions): Promise<string> {
  const finder = new KernelFinder({ folder, env });
  const here = resolve(id);
  const isEnvironment = (await finder.find(id)) === undefined && existsSync(pythonOf(here, existsSync(join(here, 'conda-meta'))));
  const meant = isEnvironment ? here : id;
  await findUsable(finder, meant);
  return meant;
}

/** For a notebook that is about to be opened: nothing is made for a kernel that is named and cannot be used. Rejects as `findUsable`. */
export async function openFinder({ wanted, ...options }: UsableKernelOptions & { wanted?: string | undefined }): Promise<KernelFinder> {
  const finder = new KernelFinder(options);
  if (wanted !== undefined && wanted !== 'auto') await findUsable(finder, wanted);
  return finder;
}

/** Of this very name, and usable. Rejects with `unknown_kernel` or `kernel_unusable`, and what to do. */
export async function findUsable(finder: KernelFinder, id: string): Promise<FoundKernel> {
  const found = await finder.find(id);
  if (!found) throw await unknownKernel(finder, id);
  if (!found.problem) return found;
  const { reason, fix } = found.problem;
  const next = fix === undefined ? 'Choose another: "notebridge kernels" lists them.' : `To fix it: ${fix}`;
  throw new HostError('kernel_unusable', `The kernel ${JSON.stringify(id)} cannot be used: ${reason}. ${next}`, { data: { kernel: id } });
}

async function unknownKernel(finder: KernelFinder, id: string): Promise<HostError> {
  const names = ['auto', ...(await finder.all()).map((found) => found.id)];
  const near = nearest(id, names, 3);
  const hint = toFolderHint(finder, id) || (near.length > 0 ? ` Nearest: ${near.join(', ')}.` : '');
  const what = id.includes('/') ? 'There is nothing at' : 'There is no kernel';
  return new HostError(
    'unknown_kernel',
    `${what} ${JSON.stringify(id.slice(0, 200))}.${hint} "notebridge kernels" lists those of this machine.`,
    {
      data: { kernel: id, near },
    },
  );
}

/** `--kernel venv`: the name of a kernelspec, and the folder is meant. */
function toFolderHint(finder: KernelFinder, id: string): string {
  if (id.includes('/') || !finder.inFolder().some(({ path }) => path?.startsWith(join(finder.folder, id) + sep))) return '';
  return ` For the Python of that folder: --kernel ${shellWord(join(finder.folder, id))}.`;
}

export interface KernelOverview {
  /** The folder that was searched. */
  readonly folder: string;
  /** Those that can be used come first. */
  readonly kernels: readonly FoundKernel[];
  /** What `auto` would take here. */
  readonly auto: KernelDecision;
}

interface LookAtKernelsOptions {
  /** A notebook or a folder. Default: the working directory. */
  where?: string | undefined;
  env?: Variables | undefined;
  trust: FolderTrust;
}

/** For those who only want to know. Runs no Python of the folder. Rejects for a notebook that cannot be read. */
export async function lookAtKernels({ where = '.', env, trust }: LookAtKernelsOptions): Promise<KernelOverview> {
  const path = resolve(where);
  const isFolder = statSync(path).isDirectory();
  const finder = new KernelFinder({ folder: isFolder ? path : dirname(path), env });
  const metadata: JsonObject = isFolder ? {} : parseNotebook(readFileSync(path, 'utf8')).notebook.metadata;
  const [kernels, auto] = await Promise.all([finder.all(), chooseKernel(finder, metadata, trust)]);
  return { folder: finder.folder, kernels, auto };
}
