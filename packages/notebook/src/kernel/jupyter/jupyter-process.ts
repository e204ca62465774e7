/** The helper's process: how it is launched, and what is left to do when it has ended. */
import { rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toKernelSpec } from '@notebridge/sandbox/kernel-spec';
import type { RelaySeam } from '@notebridge/sandbox/relay/reach';
import { openRelay } from '@notebridge/sandbox/relay/sandbox-relay';
import type { FolderAccess, RunPlace, Sandbox, SandboxMode, SandboxSpec } from '@notebridge/sandbox/spec';
import { killProcess, startProgram } from '@notebridge/sandbox/start-program';
import { temporaryInside } from '@notebridge/sandbox/system-files';
import { holdWritten, writtenFolderOf } from '@notebridge/sandbox/written-folders';
import { ownTemporaryFolder } from '@notebridge/system/files/temporary-folder';
import type { LaunchedProgram } from '../child-program.js';
import { KernelError } from '../kernel-error.js';
import type { Layer } from '../layers.js';
import { launchInside, openSandbox } from '../open-sandbox.js';

export interface LaunchOptions {
  /** A Python that has jupyter_client, by absolute path. */
  python: string;
  /** The kernelspec to start, as that Python finds it. Default: that Python's own ipykernel. */
  kernelName?: string | undefined;
  /** The notebook's folder, where the kernel begins. */
  folder: string;
  /** The notebook's file, for messages. Default: its folder. */
  file?: string | undefined;
  /** Whether kernel and helper are in a sandbox of the operating system. Default `off`: the code is the user, as in Jupyter. */
  sandbox?: SandboxMode | undefined;
  /**
   * The part of the folder that is reached within a sandbox. Default `ro`. Without a sandbox it is refused with `sandbox_unavailable`, since
   * nothing would keep it.
   */
  files?: FolderAccess | undefined;
  /** Servers that code in a sandbox may reach, on ports 443 and 80: `pypi.org`, `*.example.org`, `example.org:8443`. Default: none. */
  allowNet?: readonly string[] | undefined;
  /** @internal For tests, whose servers are on loopback. */
  relaySeam?: RelaySeam | undefined;
  /** Folders and files of this program that no kernel in a sandbox sees, whatever it is given: its state, tokens, logs. */
  ours?: readonly string[] | undefined;
  /** The files and folders that this program runs or imports: `files: 'rw'` is refused where code could change them. */
  runs?: readonly RunPlace[] | undefined;
  /** @internal Where the helper's Python files are. Default: `python/` beside this file. */
  programUrl?: URL | undefined;
}

export interface LaunchedHelper extends LaunchedProgram {
  readonly layers: readonly Layer[];
  /** The helper has ended, perhaps without a chance to do it itself: ends the kernel's process group, and removes its folder. */
  cleanUp(started: { readonly pid: number; readonly folder: string }): void;
}

const theUser: Layer = {
  name: 'runtime',
  active: false,
  text: 'the code is the user: it can do and read whatever you can, as in Jupyter',
};

export async function launchHelper(options: LaunchOptions): Promise<LaunchedHelper> {
  const { python, folder, sandbox: mode = 'off', files, programUrl = new URL('./python/', import.meta.url) } = options;
  const program = fileURLToPath(programUrl).replace(/\/$/, '');
  const { sandbox, layerOf } = await openSandbox(mode);
  // One that nobody has tried out counts for nothing.
  if (sandbox?.isTested) return launchConfined(sandbox, layerOf, { ...options, program });
  const layer = sandbox ? { ...layerOf({}), text: 'there is none here for a Python of your own' } : layerOf({});
  if (files !== undefined) throw refusalOf(`--files ${files}`, layer);
  if (options.allowNet?.length) throw refusalOf(`--allow-net ${options.allowNet.join(',')}`, layer);
  // Not in the terminal's process group, whose Ctrl-C would reach it. It ends with our end of its stdin.
  const temporary = ownTemporaryFolder(writtenFolderOf);
  const child = startProgram(python, ['-B', `${program}/start.py`, temporary], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    windowsHide: true,
  }) as LaunchedHelper['child'];
  return { child, layers: [layer, theUser], cleanUp: (started) => cleanUpHere(started, temporary) };
}

function refusalOf(option: string, { text, fix }: Layer): KernelError {
  const next = fix ?? 'Use --sandbox=auto';
  return new KernelError(
    'sandbox_unavailable',
    `"${option}" needs the sandbox of the operating system, and ${text}. ${next} Or leave the option out: then code reaches all that you can.`,
  );
}

/** Helper and kernel together: stdin and stdout are the only way in and out. */
async function launchConfined(
  sandbox: Sandbox,
  layerOf: (spec: SandboxSpec) => Layer,
  options: LaunchOptions & { program: string },
): Promise<LaunchedHelper> {
  const { python, folder, file = folder, files = 'ro', kernelName, ours, runs, allowNet = [], program } = options;
  const args = ['-B', `${program}/start.py`, temporaryInside];
  const asked = await toKernelSpec({ python, args, folder, files, kernelName, ours, runs, readable: [program] });
  const relay = allowNet.length === 0 ? undefined : await openRelay({ allow: allowNet, seam: options.relaySeam });
  const spec = relay ? relay.widen(asked) : asked;
  let release: (() => Promise<void>) | undefined;
  let launched: LaunchedProgram;
  try {
    release = files === 'rw' ? await holdWritten(folder, file) : undefined;
    launched = launchInside(sandbox, spec);
  } catch (error) {
    await Promise.allSettled([relay?.close(), release?.()]);
    throw error;
  }
  if (relay) launched.child.once('close', relay.close);
  const closed = new Promise((resolve) => launched.child.once('close', resolve));
  const gone = Promise.all([launched.gone, closed]).then(() => release?.());
  // All of it ends with its first process, and the number that it has inside is somebody else's here.
  return { ...launched, layers: [layerOf(spec)], gone, cleanUp: () => {} };
}

function cleanUpHere({ pid, folder }: { pid: number; folder: string }, temporary: string): void {
  if (pid > 1) killProcess(-pid);
  // The name comes from the other process: nothing else than its own folder is removed.
  if (dirname(folder) === temporary && basename(folder).startsWith('notebridge-kernel-')) rmSync(folder, { recursive: true, force: true });
}
