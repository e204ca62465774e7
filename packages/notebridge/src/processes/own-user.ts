import { errnoOf } from '@notebridge/kit/errno';

/** The number of the user that this process acts as; undefined where the system has none (Windows). */
export function ownUserId(): number | undefined {
  return process.geteuid?.();
}

/** The number of this process. */
export function ownProcessId(): number {
  return process.pid;
}

/** True if there is a process of that number now, of any user. Numbers are given again: it need not be the one that was meant. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}
