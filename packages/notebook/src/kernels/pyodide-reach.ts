import { realpathSync } from 'node:fs';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { assertMayBeGiven } from '@notebridge/sandbox/given-folder';
import { parseAllowedServers } from '@notebridge/sandbox/relay/allowed-servers';
import type { FolderAccess } from '@notebridge/sandbox/spec';
import { HostError } from '../session/host-error.js';

/** What code in Pyodide reaches: all of it by way of the host, which decides. */
export interface PyodideReach {
  /** It may read this folder, as `/notebook`. Undefined: no files of this machine. */
  readonly folder: string | undefined;
  /** Servers that it may fetch from. */
  readonly servers: readonly string[];
}

export interface PyodideReachOptions {
  /** `--files`; undefined where nobody has said. */
  readonly files: FolderAccess | undefined;
  /** `--allow-net`. */
  readonly allowNet: readonly string[];
  /** The folder of the notebook, and whether it has one: a notebook in memory has that of the program. */
  readonly folder: string;
  readonly hasFile: boolean;
  readonly ours: readonly string[] | undefined;
}

/**
 * `isByPerson`: a person opened the notebook, or chose the kernel, and means its folder too. Throws `kernel_unusable` for what cannot be kept,
 * and for a server that is none; what was answered once stays.
 */
export type FindPyodideReach = (isByPerson: boolean) => PyodideReach;

export function createPyodideReach(options: PyodideReachOptions): FindPyodideReach {
  const found = new Map<boolean, PyodideReach>();
  return (isByPerson) => {
    const reach = found.get(isByPerson) ?? decide(options, isByPerson);
    found.set(isByPerson, reach);
    return reach;
  };
}

function decide({ files, allowNet, folder, hasFile, ours = [] }: PyodideReachOptions, isByPerson: boolean): PyodideReach {
  if (files === 'rw')
    throw new HostError(
      'kernel_unusable',
      '"--files rw" cannot be kept by the kernel "pyodide", whose code reads the notebook\'s folder and writes nothing there. Use "--files ro", or choose an own Python: "--kernel auto", or its path; "notebridge kernels" lists them.',
    );
  assertKernelUsable(() => {
    parseAllowedServers(allowNet);
    if (files === 'ro') assertMayBeGiven(realpathSync(folder), ours);
  });
  const isGiven = files === 'ro' || (files === undefined && isByPerson && hasFile && mayBeGiven(folder, ours));
  return { folder: isGiven ? folder : undefined, servers: allowNet };
}

/** Throws `kernel_unusable` where the check throws. */
export function assertKernelUsable(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new HostError('kernel_unusable', messageOf(error));
  }
}

/** Nobody has asked for it, so there is nothing to refuse. */
function mayBeGiven(folder: string, ours: readonly string[]): boolean {
  try {
    assertMayBeGiven(realpathSync(folder), ours);
    return true;
  } catch {
    return false;
  }
}
