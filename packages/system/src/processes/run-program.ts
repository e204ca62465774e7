import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import { baseEnvironment } from './base-environment.js';
import type { ProgramStart } from './program-places.js';
import { startGuarded } from './tree-guard.js';

/** Beside its `env` the program gets the base environment (`baseEnvironment`). */
export interface RunProgramOptions extends ProgramStart {
  cwd: string;
  timeoutMs: number;
  /** Of each of the two outputs; what is beyond is read and dropped. */
  maxOutputBytes: number;
  /** Ends the program. */
  signal?: AbortSignal | undefined;
}

/** What came of running a program to its end. */
export interface ProgramRun {
  stdout: string;
  stderr: string;
  /** What did not fit into the two. */
  droppedBytes: number;
  /** Null if it was ended by a signal, or never started. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  timedOut: boolean;
  /** Why it could not be started, in words; undefined if it was. */
  startFailure: string | undefined;
}

/** How long a program may take to end after a signal, before it is killed. Milliseconds. */
const graceMs = 1000;
/** How long to wait for the rest of its output, once no process is left that could write more. Milliseconds. */
const lastOutputMs = 500;

/**
 * Runs a program without a shell and without input, in a process group of its own. When it has ended, ran too long or is no
 * longer wanted, all that it started is ended as well. Resolves when nothing of it is left. Rejects for what `startOutside` refuses alone.
 */
export async function runProgram(options: RunProgramOptions): Promise<ProgramRun> {
  const { command, args, cwd, env, timeoutMs, maxOutputBytes, signal } = options;
  const isCancelled = (): boolean => signal?.aborted === true;
  if (isCancelled()) return notStarted('it was cancelled before it began');
  const program = startGuarded({ command, args, cwd, env, inherited: baseEnvironment() }, ['ignore', 'pipe', 'pipe']);
  const { child } = program;
  if (child instanceof BridgeError) throw child;
  if (child instanceof Error) return notStarted(child.message);
  const stdout = new CappedOutput(child.stdout as Readable, maxOutputBytes);
  const stderr = new CappedOutput(child.stderr as Readable, maxOutputBytes);
  const ended = endOf(child);
  const hasEnded = await settlesWithin(ended, timeoutMs, signal);
  const timedOut = !hasEnded && !isCancelled();
  await program.end(graceMs);
  const { exitCode, endSignal, startFailure } = await ended;
  if (startFailure === undefined) await Promise.all([stdout.finish(), stderr.finish()]);
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    droppedBytes: stdout.droppedBytes + stderr.droppedBytes,
    exitCode,
    signal: endSignal,
    timedOut,
    startFailure,
  };
}

interface End {
  exitCode: number | null;
  endSignal: NodeJS.Signals | null;
  startFailure: string | undefined;
}

function endOf(child: ChildProcess): Promise<End> {
  return new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      // After the start an error is one of sending a signal, and the exit still comes.
      if (child.pid === undefined) resolve({ exitCode: null, endSignal: null, startFailure: explain(error) });
    });
    child.once('exit', (exitCode, endSignal) => resolve({ exitCode, endSignal, startFailure: undefined }));
  });
}

function explain({ code, path, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return `there is no program "${path ?? ''}" on this machine, or its folder is gone`;
  return code === 'EACCES' ? `"${path ?? ''}" may not be run (EACCES)` : message;
}

/** The beginning of an output as text; a character that the bound cuts in two is left out. */
class CappedOutput {
  droppedBytes = 0;
  readonly #chunks: Buffer[] = [];
  readonly #closed: Promise<void>;
  readonly #stream: Readable;
  #room: number;

  constructor(stream: Readable, maxBytes: number) {
    this.#stream = stream;
    this.#room = maxBytes;
    stream.on('data', (chunk: Buffer) => {
      const kept = chunk.subarray(0, this.#room);
      this.#chunks.push(kept);
      this.#room -= kept.length;
      this.droppedBytes += chunk.length - kept.length;
    });
    stream.on('error', () => {});
    this.#closed = new Promise((resolve) => stream.once('close', resolve));
  }

  get text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks), { stream: this.droppedBytes > 0 });
  }

  /** Waits for what is still on its way. */
  async finish(): Promise<void> {
    await settlesWithin(this.#closed, lastOutputMs);
    this.#stream.destroy();
  }
}

function notStarted(startFailure: string): ProgramRun {
  return { stdout: '', stderr: '', droppedBytes: 0, exitCode: null, signal: null, timedOut: false, startFailure };
}
