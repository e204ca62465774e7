import { processExists, startOfProcess } from './living-process.js';

/** The number of the user that this process acts as; undefined where the system has none (Windows). */
export function ownUserId(): number | undefined {
  return process.geteuid?.();
}

/** The number of this process. */
export function ownProcessId(): number {
  return process.pid;
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
