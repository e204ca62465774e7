import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { KernelWorker, OpenWorker, WorkerEvents } from './kernel-worker.js';
import type { StartCommand } from './messages.js';
import { readLines } from './read-lines.js';

export interface KernelFiles {
  /** The built `kernel/worker/node-main.js`. It and what is beside and above it may be read by the process. */
  workerUrl: URL;
  /** The folder of our Python files. */
  pythonUrl: URL;
  /** The folder of the npm package `pyodide`. */
  indexUrl: URL;
  /** See pyodide-files.ts. */
  stdlibUrl?: URL;
}

type Process = ChildProcessByStdio<Writable, Readable, Readable>;

/** Taken output is acknowledged in portions: each is a write. Far below what may be under way, or Python would wait for ever. */
const acknowledgeEvery = 64 * 1024;
const endTimeoutMs = 2000;
const maxErrorCharacters = 2000;

export function openNodeProcess(files: KernelFiles, fetchOrigins: readonly string[]): OpenWorker {
  return (events) => {
    const child = begin(files, fetchOrigins);
    const exited = watch(child, events);
    const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
    let taken = 0;
    send({
      type: 'start',
      indexUrl: files.indexUrl.href,
      pythonUrl: files.pythonUrl.href,
      fetchOrigins,
      ...(files.stdlibUrl ? { stdlibUrl: files.stdlibUrl.href } : {}),
    } satisfies StartCommand);
    return {
      send,
      interrupt: (count) => send({ type: 'interrupt', count }),
      acknowledge(characters) {
        taken += characters;
        if (taken < acknowledgeEvery) return;
        send({ type: 'acknowledge', characters: taken });
        taken = 0;
      },
      terminate: () => terminate(child, exited),
    } satisfies KernelWorker;
  };
}

function begin({ workerUrl, pythonUrl, indexUrl, stdlibUrl }: KernelFiles, fetchOrigins: readonly string[]): Process {
  const readable = [new URL('..', workerUrl), pythonUrl, indexUrl, ...(stdlibUrl ? [stdlibUrl] : [])];
  return spawn(process.execPath, [...flags(readable, fetchOrigins), fileURLToPath(workerUrl)], {
    env: minimalEnvironment(),
    // Node 22 and 24 let a thread read the whole working directory, whatever its permissions: one that it may read anyway.
    cwd: fileURLToPath(indexUrl),
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
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
  ];
}

/** Nothing of ours. Windows can't start a process without this one. */
function minimalEnvironment(): Record<string, string> {
  const { SystemRoot } = process.env;
  return SystemRoot === undefined ? {} : { SystemRoot };
}

/** Answers with a promise of its end. */
function watch(child: Process, { onReport, onExit }: WorkerEvents): Promise<void> {
  const errors = keepEnd(child.stderr);
  // It went away while we wrote: `close` says so.
  child.stdin.on('error', () => {});
  readLines(child.stdout, onReport, (reason) => {
    onExit(reason);
    child.kill('SIGKILL');
  });
  return new Promise((resolve) => {
    child.on('error', (error) => {
      onExit(`its process could not be started: ${error.message}`);
      resolve();
    });
    child.on('close', (code, signal) => {
      onExit(`its process ended with ${signal ?? `code ${code}`}${errors()}`);
      resolve();
    });
  });
}

/** The last of what it said on stderr, for the message when it dies. */
function keepEnd(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    text = (text + chunk).slice(-maxErrorCharacters);
  });
  return () => (text.trim() === '' ? '' : `: ${text.trim()}`);
}

async function terminate(child: Process, exited: Promise<void>): Promise<void> {
  child.kill('SIGKILL');
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, endTimeoutMs);
  });
  await Promise.race([exited, timeout]);
  clearTimeout(timer);
}
