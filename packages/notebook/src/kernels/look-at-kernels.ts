import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { JsonObject } from '@notebridge/kit/json';
import { parseNotebook } from '../model/nbformat.js';
import { chooseKernel, type FolderTrust, type KernelDecision } from './choose-kernel.js';
import type { FoundKernel } from './found-kernel.js';
import type { Variables } from './jupyter-folders.js';
import { KernelFinder } from './kernel-finder.js';

export interface KernelOverview {
  /** The folder that was searched. */
  readonly folder: string;
  /** Those that can be used come first. */
  readonly kernels: readonly FoundKernel[];
  /** What `auto` would take here. */
  readonly auto: KernelDecision;
}

export interface LookAtKernelsOptions {
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
