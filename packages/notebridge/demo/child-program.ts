import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface ChildProgramOptions {
  /** The whole environment of the child. Default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Working directory. Default: that of this process. */
  cwd?: string;
}

/** The end of its stdin asks a program to end; how long it may take before it gets a signal. Milliseconds. */
const defaultTimeoutMs = 5000;

/** After its end, a program's output is waited for no longer than this: a child of its own may hold it open. Milliseconds. */
const lastOutputMs = 500;

const maxLastWords = 4096;

/**
 * A program that speaks on its stdin and stdout and ends when its stdin does. So it ends with us too, however we end: a pipe that
 * nobody holds is closed by the system.
 */
export class ChildProgram {
  /** The child's stdin. */
  readonly input: Writable;
  /** The child's stdout. */
  readonly output: Readable;
  /** Resolves in words when the child has ended, or could not be started: `exit code 2`. Never rejects. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcessWithoutNullStreams;
  #lastWords = '';

  constructor(command: string, args: readonly string[], { env = process.env, cwd }: ChildProgramOptions = {}) {
    this.#child = spawn(command, args, { env, cwd, stdio: 'pipe', windowsHide: true });
    this.input = this.#child.stdin;
    this.output = this.#child.stdout;
    // A child that does not read any more has ended, and `ended` says so.
    this.input.on('error', () => {});
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-maxLastWords);
    });
    this.ended = endOf(this.#child);
  }

  /** The end of what the child wrote to stderr, at most 4096 UTF-16 units. */
  get lastWords(): string {
    return this.#lastWords.trim();
  }

  /** Closes the child's stdin and waits for its end; after `timeoutMs` (default 5000) it is killed. Closing twice is harmless. */
  async close(timeoutMs = defaultTimeoutMs): Promise<string> {
    this.input.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), timeoutMs);
    try {
      return await this.ended;
    } finally {
      clearTimeout(timer);
    }
  }
}

function endOf(child: ChildProcessWithoutNullStreams): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      const ending = signal === null ? `exit code ${code}` : signal;
      child.once('close', () => resolve(ending));
      setTimeout(() => resolve(ending), lastOutputMs).unref();
    });
  });
}
