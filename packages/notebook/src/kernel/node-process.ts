import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { parseJson } from '@notebridge/kit/exact-json';
import type { SandboxMode, SandboxSpec } from '../sandbox/spec.js';
import { keepEnd, startProgram } from '../sandbox/start-program.js';
import type { KernelWorker, OpenWorker, WorkerEvents } from './kernel-worker.js';
import type { Layer } from './layers.js';
import { toLine, withBytes } from './line-bytes.js';
import { type StartCommand, withShown } from './messages.js';
import { neighboursLayer, runtimeLayer } from './node-layers.js';
import { type OpenedSandbox, openSandbox } from './open-sandbox.js';
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
  stdlibUrl?: URL;
  /** See snapshot-file.ts. */
  snapshotUrl?: URL;
}

export interface NodeProcessOptions {
  files: KernelFiles;
  fetchOrigins: readonly string[];
  sandbox: SandboxMode;
  /** See `NodeKernelOptions`. */
  maxDataBytes?: number | undefined;
  /** What code asks the host for: see `StartCommand`. */
  asks: Pick<StartCommand, 'files' | 'network' | 'out'>;
  /** @internal See `NodeKernelOptions`. */
  hardening: boolean;
}

type Process = ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable };

interface Launched {
  child: Process;
  /** Of the operating system. */
  layer: Layer;
  /** Rejects if the process is not where it should be. No code of a notebook runs before. */
  inspect: () => Promise<void>;
  /** See `SandboxedProcess`. */
  breach?: (() => string | undefined) | undefined;
}

/** Taken output is acknowledged in portions: each is a write. Far below what may be under way, or Python would wait for ever. */
const acknowledgeEvery = 64 * 1024;
/** Its main thread takes what comes at once, whatever Python does. One that asks and takes nothing would fill our memory with answers. */
const maxUntakenCharacters = 256 * 1024 * 1024;
const endTimeoutMs = 2000;
const maxErrorCharacters = 2000;

export function openNodeProcess(options: NodeProcessOptions): OpenWorker {
  return (events) => {
    const { files, fetchOrigins, asks, hardening } = options;
    let child: Process | undefined;
    let layer: Layer | undefined;
    let isEnded = false;
    let taken = 0;
    const early: string[] = [];
    const send = (message: object) => {
      if (child && child.stdin.writableLength > maxUntakenCharacters) return void giveUp(child, events, 'it did not take what it was sent');
      const line = `${toLine(message)}\n`;
      if (child) child.stdin.write(line);
      else early.push(line);
    };
    const open = async () => {
      const launched = await launch(options);
      if (isEnded) return void launched.child.kill('SIGKILL');
      ({ child, layer } = launched);
      const exited = watch(launched, {
        ...events,
        onReport: afterInspection(events, launched.inspect),
      });
      for (const line of early) child.stdin.write(line);
      await exited;
    };
    const exited = open().catch((error: unknown) => events.onExit(error instanceof Error ? error.message : String(error)));
    send({
      type: 'start',
      indexUrl: files.indexUrl.href,
      pythonUrl: files.pythonUrl.href,
      fetchOrigins,
      ...asks,
      sesUrl: files.sesUrl.href,
      ...(hardening ? {} : { hardening }),
      ...(files.stdlibUrl ? { stdlibUrl: files.stdlibUrl.href } : {}),
      ...(files.snapshotUrl ? { snapshotUrl: files.snapshotUrl.href } : {}),
    } satisfies StartCommand);
    return {
      layersWith: (hardened) => layer && [layer, runtimeLayer(hardened), neighboursLayer()],
      send,
      interrupt: (count) => send({ type: 'interrupt', count }),
      acknowledge(characters) {
        taken += characters;
        if (taken < acknowledgeEvery) return;
        send({ type: 'acknowledge', characters: taken });
        taken = 0;
      },
      terminate() {
        isEnded = true;
        child?.kill('SIGKILL');
        return within(endTimeoutMs, exited);
      },
    } satisfies KernelWorker;
  };
}

/** Reports are read once the process was checked, which is when it has loaded and before it gets code. */
function afterInspection({ onReport, onExit }: WorkerEvents, inspect: () => Promise<void>): (report: unknown) => void {
  let held: unknown[] | undefined;
  let isInspected = false;
  const pass = () => {
    isInspected = true;
    for (const report of held ?? []) onReport(report);
  };
  return (report) => {
    if (isInspected) return onReport(report);
    held ??= [];
    if (held.push(report) === 1) inspect().then(pass, (error: Error) => onExit(error.message));
  };
}

async function launch({ files, fetchOrigins, sandbox: mode, maxDataBytes }: NodeProcessOptions): Promise<Launched> {
  const network = fetchOrigins.length > 0;
  if (network && mode === 'require')
    throw new Error('a sandbox is required, and there is none in which Python may fetch from servers. Leave "fetchOrigins" out');
  const { sandbox, layerOf }: OpenedSandbox = await openSandbox(mode);
  const spec = { ...toSpec(files, fetchOrigins), maxDataBytes };
  const layer = layerOf(spec);
  if (!sandbox) return { child: spawnPlainly(spec), layer, inspect: async () => {} };
  const sandboxed = sandbox.launch(spec);
  const inspect = async () => {
    const faults = await sandbox.findFaults(sandboxed, spec);
    if (faults.length > 0) throw new Error(`its sandbox is not in force: ${faults.join(', ')}`);
  };
  return { child: sandboxed.child, layer, inspect, breach: sandboxed.breach };
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

function spawnPlainly({ command: [command, ...args], folder }: SandboxSpec): Process {
  const options = { env: minimalEnvironment(), cwd: folder, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true } satisfies SpawnOptions;
  return startProgram(command, args, options) as Process;
}

function flags(readable: URL[], fetchOrigins: readonly string[]): string[] {
  const known = process.allowedNodeEnvironmentFlags;
  return [
    '--no-warnings',
    known.has('--permission') ? '--permission' : '--experimental-permission',
    // For Python's thread; that one does not get it.
    '--allow-worker',
    ...readable.map((url) => `--allow-fs-read=${fileURLToPath(url)}`),
    // Node 25 and later refuse the network without it. Which servers, worker/node-network.ts sees to.
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

/** Returns a promise of its end. */
function watch({ child, breach }: Launched, { onReport, onExit }: WorkerEvents): Promise<void> {
  const errors = keepEnd(child.stderr, maxErrorCharacters);
  // It went away while we wrote: `close` says so.
  child.stdin.on('error', () => {});
  readLines(
    child.stdout,
    (report) => onReport(withShown(withBytes(report), parseJson)),
    (reason) => giveUp(child, { onExit }, reason),
  );
  return new Promise((resolve) => {
    child.on('error', (error) => {
      onExit(`its process could not be started: ${error.message}`);
      resolve();
    });
    child.on('close', (code, signal) => {
      const why = breach?.();
      if (why !== undefined) onExit(`it was ended: ${why}`);
      onExit(`its process ended with ${signal ?? describeCode(code)}${errors() && `: ${errors()}`}`);
      resolve();
    });
  });
}

function giveUp(child: Process, { onExit }: Pick<WorkerEvents, 'onExit'>, reason: string): void {
  onExit(reason);
  child.kill('SIGKILL');
}

/** Programs that ran another one, as a sandbox does, report its signal this way. */
function describeCode(code: number | null): string {
  const signal = Object.entries(constants.signals).find(([, number]) => number + 128 === code)?.[0];
  return signal ?? `code ${code}`;
}
