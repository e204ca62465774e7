/** The helper's process: how it is launched, and what is left to do when it has ended. */
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { openSandbox } from '../../sandbox/sandbox.js';
import type { SandboxMode } from '../../sandbox/spec.js';
import { startProgram } from '../../sandbox/start-program.js';
import type { Layer } from '../layers.js';

/** What of the notebook's folder code reaches within a sandbox: nothing, its files to read, or to write as well. */
export type FolderAccess = 'none' | 'ro' | 'rw';

export interface LaunchOptions {
  /** A Python that has jupyter_client, by absolute path. */
  python: string;
  /** The notebook's folder, where the kernel begins. */
  folder: string;
  sandbox: SandboxMode;
  files: FolderAccess;
  /** The built `python/` beside this file. */
  programUrl: URL;
}

export interface Launched {
  readonly child: ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable };
  readonly layers: readonly Layer[];
  /** Rejects if the process is not where it should be. No code of a notebook runs before. */
  inspect(): Promise<void>;
  /** The helper has ended, perhaps without a chance to do it itself: ends the kernel's process group, and removes its folder. */
  cleanUp(started: { readonly pid: number; readonly folder: string }): void;
}

const theUser: Layer = {
  name: 'runtime',
  active: false,
  text: 'the code is the user: it can do and read whatever you can, as in Jupyter',
};

export async function launchHelper({ python, folder, sandbox, programUrl }: LaunchOptions): Promise<Launched> {
  const { layerOf } = await openSandbox('off');
  const layer = sandbox === 'off' ? layerOf({}) : { ...layerOf({}), text: 'there is none yet for a Python of your own' };
  if (sandbox === 'require')
    throw new Error(`a sandbox is required, and ${layer.text}. Use the kernel "pyodide", or --sandbox=off to run without`);
  // Not in the terminal's process group, whose Ctrl-C would reach it. It ends with our end of its stdin.
  const child = startProgram(python, ['-B', fileURLToPath(new URL('start.py', programUrl))], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    windowsHide: true,
  }) as Launched['child'];
  return { child, layers: [layer, theUser], inspect: async () => {}, cleanUp: cleanUpHere };
}

function cleanUpHere({ pid, folder }: { pid: number; folder: string }): void {
  try {
    if (pid > 1) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended, as it should.
  }
  // The name comes from the other process: nothing else than its own folder is removed.
  if (dirname(folder) === tmpdir() && basename(folder).startsWith('notebridge-kernel-')) rmSync(folder, { recursive: true, force: true });
}
