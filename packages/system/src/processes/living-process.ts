import { errnoOf } from '@notebridge/protocol/util/errno';
import { textIn } from '../starts/seen-files.js';

/**
 * True if there is a process of that number now, of any user. Numbers are given again: it need not be the one that was meant. One that has
 * ended, and whose parent is stopped or has not asked how, is gone (Linux).
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

/** The fields of proc_pid_stat(5) from the state on (field 3); undefined where the system says nothing. */
function statOf(pid: number): string[] | undefined {
  if (process.platform !== 'linux') return undefined;
  const line = textIn(`/proc/${pid}/stat`);
  // The name of the program, in parentheses, may have spaces and parentheses in it.
  return line?.slice(line.lastIndexOf(')') + 2).split(' ');
}
