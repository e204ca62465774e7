import { readFileSync } from 'node:fs';
import { errnoOf } from '@notebridge/kit/errno';

/** The number of the user that this process acts as; undefined where the system has none (Windows). */
export function ownUserId(): number | undefined {
  return process.geteuid?.();
}

/** The number of this process. */
export function ownProcessId(): number {
  return process.pid;
}

/**
 * True if there is a process of that number now, of any user. Numbers are given again: it need not be the one that was meant. One that has
 * ended, and whose parent is stopped and has not asked how, is gone (Linux).
 */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
  return statOf(pid)?.[0] !== 'Z';
}

/** When the process of that number started, in a unit of the system's: with the number it names one process for ever. Linux only. */
export function startOfProcess(pid: number): string | undefined {
  return statOf(pid)?.[19];
}

/** Names this process for ever, where the system says when a process started; elsewhere by its number alone. */
export function ownProcessName(): string {
  return `${process.pid}/${startOfProcess(process.pid) ?? ''}`;
}

/** True if the process of a name of `ownProcessName` runs no more. */
export function hasProcessEnded(name: string): boolean {
  const [pid = '', start = ''] = name.split('/');
  if (!processExists(Number(pid))) return true;
  const found = startOfProcess(Number(pid));
  return start !== '' && found !== undefined && found !== start;
}

/** What the system says of a process, from its state on (proc_pid_stat(5), field 3); undefined where it says nothing. */
function statOf(pid: number): string[] | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may have spaces and parentheses in it.
    return line.slice(line.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
