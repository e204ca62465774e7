import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { statSync } from 'node:fs';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import { baseEnvironment } from './base-environment.js';
import { createLineSplitter } from './line-splitter.js';
import type { OutsideStart } from './start-outside.js';
import { type GuardedProgram, startGuarded } from './tree-guard.js';

/** By default it inherits `baseEnvironment`, and begins in the working directory of this process. */
export interface ServerProcessOptions extends Pick<OutsideStart, 'command' | 'args' | 'env' | 'inherited' | 'cwd'> {
  /** Receives each line of its stderr, at most 4096 UTF-16 units long. */
  onStderrLine?: (line: string) => void;
}

/** How a program ended, or that it could not be started. */
export interface ProcessEnd {
  /** In words: `exit code 2`, `SIGKILL`, or why it did not start. */
  words: string;
  /** False if there never was a process: trying again will not help. */
  wasStarted: boolean;
}

const maxLineLength = 4096;
/** How long a program may take to end when its stdin does, then after a signal. Milliseconds. */
const ownEndMs = 1000;
const politeMs = 2000;
/** The same for those that a leader has left behind: they have lost their parent. */
const orphansMs = 300;

/**
 * A program that serves us on its stdin and stdout: started without a shell, in a process group of its own, with a minimal
 * environment. Its whole tree ends with it and with us, however we end.
 */
export class ServerProcess {
  /** Undefined if it could not be started. */
  readonly pid: number | undefined;
  readonly input: Writable;
  readonly output: Readable;
  /** Resolves when the program itself has ended, or could not be started; others of its tree may still live. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  readonly #program: GuardedProgram;
  #isEnded = false;
  #gone: Promise<void> | undefined;

  constructor({ command, args, env, inherited = baseEnvironment(), cwd, onStderrLine }: ServerProcessOptions) {
    this.#program = startGuarded({ command, args, env, inherited, cwd }, 'pipe');
    if (this.#program.child instanceof Error) {
      [this.input, this.output] = [new PassThrough().resume(), Readable.from([])];
      this.#isEnded = true;
      this.ended = Promise.resolve({ words: this.#program.child.message, wasStarted: false });
      return;
    }
    const child = this.#program.child as ChildProcessWithoutNullStreams;
    this.pid = child.pid;
    this.input = child.stdin;
    this.output = child.stdout;
    // A program that does not read any more has ended, or will be ended; `ended` says so.
    this.input.on('error', () => {});
    const takeChunk = createLineSplitter(maxLineLength, (line) => onStderrLine?.(line));
    child.stderr.setEncoding('utf8').on('data', takeChunk);
    child.stderr.on('end', () => takeChunk('\n')).on('error', () => {});
    this.ended = new Promise((resolve) => {
      const settle = (words: string): void => {
        this.#isEnded = true;
        resolve({ words, wasStarted: child.pid !== undefined });
        void this.stop();
      };
      child.once('error', (error) => settle(explain(error, command, cwd)));
      child.once('exit', (code, signal) => settle(signal ?? `exit code ${code}`));
    });
  }

  /**
   * Closes its stdin; after 1 s signals the group to end, after 2 s more kills it. Resolves when the whole tree is gone. Stopping
   * twice is harmless, and so is stopping what has ended.
   */
  stop(): Promise<void> {
    this.#gone ??= this.#stop();
    return this.#gone;
  }

  async #stop(): Promise<void> {
    this.input.end();
    const wasAlive = !this.#isEnded;
    if (wasAlive) await settlesWithin(this.ended, ownEndMs);
    await this.#program.end(wasAlive ? politeMs : orphansMs);
  }
}

/** Node names the program when it is the working directory that is missing. */
function explain(error: NodeJS.ErrnoException, command: string, cwd: string | undefined): string {
  if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) return `its folder "${cwd}" does not exist`;
  if (error.code === 'ENOENT') return `there is no program "${command}" (ENOENT)`;
  if (error.code === 'EACCES') return `"${command}" may not be run (EACCES)`;
  return error.message;
}
