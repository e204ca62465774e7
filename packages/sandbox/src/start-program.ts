import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

/**
 * As `spawn`. Node reports a refusal of the system a moment later, by an event that would end this process without a listener; other
 * listeners receive it as well. Throws if there are too few descriptors for the pipes, with which the child would have no streams.
 */
export function startProgram(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, [...args], options);
  child.on('error', () => {});
  if ((child.stdio as ChildProcess['stdio'] | undefined) === undefined)
    throw new Error(`too many files are open to start "${command}": close some programs, or raise the limit of open files`);
  return child;
}

/** The last of what a program says on its stderr, for the message when it dies. */
export function keepEnd(stderr: Readable, maxCharacters: number): () => string {
  let text = '';
  stderr.setEncoding('utf8');
  stderr.on('data', (chunk: string) => {
    text = (text + chunk).slice(-maxCharacters);
  });
  return () => text.trim();
}

/** Also one that has just ended. `pid`: below 0 all of its group. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
