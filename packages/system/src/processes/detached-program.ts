import { type OutsideStart, startOutside } from './start-outside.js';

export interface DetachedProgramOptions extends OutsideStart {
  /** An open file that takes what the program writes to its stderr. */
  stderr: number;
}

/** A program that does not end with us. */
export interface DetachedProgram {
  /** Resolves when it has ended while we live: `exit code 1`, `SIGKILL`, or why it did not start. Keeps no process alive. */
  ended: Promise<string>;
}

/** Starts a program that outlives us: in a session of its own, without a terminal and without our pipes. Throws as `startOutside`. */
export function startDetached({ stderr, ...program }: DetachedProgramOptions): DetachedProgram {
  const child = startOutside(program, { detached: true, stdio: ['ignore', 'ignore', stderr], windowsHide: true });
  child.unref();
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  return { ended };
}
