/** Python in a process of its own, under Node's permission model: it may read its own files, and begin nothing. */
import type { SpawnOptions } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseJson } from '@notebridge/protocol/exact-json';
import type { RelaySeam } from '@notebridge/sandbox/relay/reach';
import { createRelayFetch } from '@notebridge/sandbox/relay/relay-fetch';
import type { SandboxedProcess, SandboxMode, SandboxSpec } from '@notebridge/sandbox/spec';
import { startProgram } from '@notebridge/sandbox/start-program';
import { inPortions, type LaunchedProgram, openProgram } from './child-program.js';
import { FetchService } from './fetch-service.js';
import { FolderService, type FolderServiceOptions } from './folder-service.js';
import type { KernelWorker, WorkerEvents } from './kernel-worker.js';
import type { Layer } from './layers.js';
import { toLine, withBytes } from './line-bytes.js';
import { type Hardened, type StartCommand, withShown } from './messages.js';
import { launchInside, openSandbox } from './open-sandbox.js';
import { findPyodide, findSes, findSnapshot, findStandardLibrary } from './pyodide-files.js';
import { PyodideKernel, type PyodideKernelOptions } from './pyodide-kernel.js';
import { readLines } from './read-lines.js';
import { within } from './within.js';

export interface KernelFiles {
  /** The built `kernel/worker/node-main.js`. It and what is beside and above it may be read by the process. */
  workerUrl: URL;
  /** The folder of our Python files. */
  pythonUrl: URL;
  /** The folder of the npm package `pyodide`. */
  indexUrl: URL;
  /** The module `ses`: one file, without imports. */
  sesUrl: URL;
  /** See pyodide-files.ts. */
  stdlibUrl?: URL | undefined;
  /** See snapshot-file.ts. */
  snapshotUrl?: URL | undefined;
}

export interface NodeKernelOptions extends Omit<PyodideKernelOptions, 'openWorker' | 'services'> {
  /** The folder that code may read, as `/notebook`; the host reads it. Default: none. */
  folder?: FolderServiceOptions | undefined;
  /**
   * Servers that code may fetch from, as `--allow-net` has them; the host fetches, and reaches public addresses alone. Takes the place of
   * `fetchOrigins`. Throws for an entry that names no server. Default: none, and what code fetches is refused.
   */
  allowNet?: readonly string[] | undefined;
  /** @internal For tests, whose servers are on loopback. */
  relaySeam?: RelaySeam | undefined;
  /**
   * The origins that Python may fetch from, as in `http://127.0.0.1:8765`. Default: none. With some, the sandbox has the machine's
   * network, and only JavaScript holds Python to them; `sandbox: 'require'` refuses that.
   */
  fetchOrigins?: readonly string[];
  /** Whether Python is in a sandbox of the operating system. Default `auto`: where one works. */
  sandbox?: SandboxMode | undefined;
  /** Memory that it may write to where it is in a sandbox, in bytes; Node reserves 2 GiB of it at once. Default: see sandbox/limits.ts. */
  maxDataBytes?: number | undefined;
  /** Code has a folder `/out`, in memory, and `takeWritten` takes what it writes there. Default `false`. */
  givesFiles?: boolean | undefined;
  /** Where the kernel's own files are. Default: where this package was built, and where Node finds `pyodide`. */
  files?: Partial<KernelFiles>;
  /** @internal `false` leaves the JavaScript around Python open, so that tests can attack the other layers alone. */
  hardening?: boolean;
}

/** Its main thread takes what comes at once, whatever Python does. One that asks and takes nothing would fill our memory with answers. */
const maxUntakenCharacters = 256 * 1024 * 1024;
const endTimeoutMs = 2000;

export function createNodeKernel(options: NodeKernelOptions = {}): PyodideKernel {
  const { files = {}, folder, allowNet, relaySeam } = options;
  const all = { ...installedFiles(files), ...files };
  const relayFetch = allowNet && createRelayFetch({ allow: allowNet, seam: relaySeam });
  return new PyodideKernel({
    ...options,
    services: { files: folder && (() => new FolderService(folder)), network: relayFetch && (() => new FetchService(relayFetch)) },
    openWorker: (events) => openWorker(all, options, events),
  });
}

function installedFiles({ indexUrl = findPyodide(), sesUrl = findSes() }: Partial<KernelFiles>): KernelFiles {
  return {
    workerUrl: new URL('./worker/node-main.js', import.meta.url),
    pythonUrl: new URL('./python/', import.meta.url),
    indexUrl,
    sesUrl,
    stdlibUrl: findStandardLibrary(indexUrl),
    snapshotUrl: findSnapshot(indexUrl),
  };
}

function openWorker(files: KernelFiles, options: NodeKernelOptions, { onReport, onExit }: WorkerEvents): KernelWorker {
  const program = openProgram({
    launch: () => launch(files, options),
    read: readLines,
    onMessage: (line) => onReport(withShown(withBytes(line), parseJson)),
    onExit,
    reasons: {
      noStart: (fault) => `its process could not be started: ${fault}`,
      breach: (bound) => `it was ended: ${bound}`,
      end: (code, signal, said) => `its process ended with ${signal ?? describeCode(code)}${said}`,
    },
  });
  const send = (message: object): void => {
    const untaken = program.launched?.child.stdin.writableLength ?? 0;
    if (untaken > maxUntakenCharacters) return program.fail('it did not take what it was sent');
    program.write(`${toLine(message)}\n`);
  };
  send({
    type: 'start',
    indexUrl: files.indexUrl.href,
    pythonUrl: files.pythonUrl.href,
    fetchOrigins: options.fetchOrigins ?? [],
    files: options.folder && 'ro',
    network: options.allowNet && true,
    out: options.givesFiles === true || undefined,
    sesUrl: files.sesUrl.href,
    hardening: options.hardening === false ? false : undefined,
    stdlibUrl: files.stdlibUrl?.href,
    snapshotUrl: files.snapshotUrl?.href,
  } satisfies StartCommand);
  return {
    layersWith: (hardened) => program.launched && [program.launched.layer, runtimeLayer(hardened), neighboursLayer()],
    send,
    interrupt: (count) => send({ type: 'interrupt', count }),
    acknowledge: inPortions((characters) => send({ type: 'acknowledge', characters })),
    terminate() {
      program.kill();
      return within(endTimeoutMs, program.exited);
    },
  };
}

async function launch(
  files: KernelFiles,
  { fetchOrigins = [], sandbox: mode = 'auto', maxDataBytes }: NodeKernelOptions,
): Promise<LaunchedProgram & { layer: Layer }> {
  if (fetchOrigins.length > 0 && mode === 'require')
    throw new Error('a sandbox is required, and there is none in which Python may fetch from servers. Leave "fetchOrigins" out');
  const { sandbox, layerOf } = await openSandbox(mode);
  const spec = { ...toSpec(files, fetchOrigins), maxDataBytes };
  const launched = sandbox ? launchInside(sandbox, spec) : { child: spawnPlainly(spec) };
  return { ...launched, layer: layerOf(spec) };
}

function toSpec(files: KernelFiles, fetchOrigins: readonly string[]): SandboxSpec {
  const { workerUrl, pythonUrl, indexUrl, sesUrl, stdlibUrl, snapshotUrl } = files;
  const urls = [new URL('..', workerUrl), pythonUrl, indexUrl, sesUrl, stdlibUrl, snapshotUrl].filter((url) => url !== undefined);
  return {
    command: [process.execPath, ...flags(urls, fetchOrigins), fileURLToPath(workerUrl)],
    readable: urls.map((url) => fileURLToPath(url).replace(/\/$/, '')),
    // Node 22 and 24 let a thread read the whole working directory, whatever its permissions: one that it may read anyway.
    folder: fileURLToPath(indexUrl),
    network: fetchOrigins.length > 0,
  };
}

function spawnPlainly({ command: [command, ...args], folder }: SandboxSpec): SandboxedProcess['child'] {
  const options = { env: minimalEnvironment(), cwd: folder, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true } satisfies SpawnOptions;
  return startProgram(command, args, options) as SandboxedProcess['child'];
}

function flags(readable: URL[], fetchOrigins: readonly string[]): string[] {
  const known = process.allowedNodeEnvironmentFlags;
  return [
    '--no-warnings',
    known.has('--permission') ? '--permission' : '--experimental-permission',
    // For Python's thread; that one does not get it.
    '--allow-worker',
    ...readable.map((url) => `--allow-fs-read=${fileURLToPath(url)}`),
    // Node 25 and later refuse the network without it. Which servers, worker/plain-fetch.ts sees to.
    ...(fetchOrigins.length > 0 && known.has('--allow-net') ? ['--allow-net'] : []),
    // No eval and no Function: nothing that Python gets hold of turns text into JavaScript.
    '--disallow-code-generation-from-strings',
    // Node 20 does not know it: see worker/ignore-sigusr1.ts.
    ...(known.has('--disable-sigusr1') ? ['--disable-sigusr1'] : []),
  ];
}

/** Nothing of ours. Windows can't start a process without this one. */
function minimalEnvironment(): Record<string, string> {
  const { SystemRoot } = process.env;
  return SystemRoot === undefined ? {} : { SystemRoot };
}

/** Programs that ran another one, as a sandbox does, report its signal this way. */
function describeCode(code: number | null): string {
  const signal = Object.entries(constants.signals).find(([, number]) => number + 128 === code)?.[0];
  return signal ?? `code ${code}`;
}

/** What worker/ does inside of the process, with Node's flags above. */
function runtimeLayer(hardened: Hardened | undefined): Layer {
  const name = 'runtime';
  if (!hardened) return { name, active: false, text: 'the JavaScript around Python is as the runtime made it' };
  return { name, active: true, text: `${hardened.objects} JavaScript objects frozen, no code from text, Node's permission flags` };
}

/** Whether this process, which a kernel's neighbour could send signals to, would open its debugger for one. */
function neighboursLayer(): Layer {
  const name = 'neighbours';
  const isDeaf = process.listenerCount('SIGUSR1') > 0 || process.execArgv.includes('--disable-sigusr1') || process.platform === 'win32';
  if (isDeaf) return { name, active: true, text: 'no process of ours opens a debugger for a signal' };
  return {
    name,
    active: false,
    text: 'this process opens its debugger for SIGUSR1',
    fix: "Begin the program with: process.on('SIGUSR1', () => {})",
  };
}
