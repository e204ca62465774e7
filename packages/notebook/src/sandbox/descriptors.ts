import { readdirSync, readFileSync } from 'node:fs';

/** Files that our parent process left open for our children. Through one of a folder, its files could be reached. */
export function inheritedDescriptors(): number[] {
  const closesOnExec = 0o2000000;
  return readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((fd) => fd > 2 && !(flagsOf(fd) & closesOnExec));
}

function flagsOf(fd: number): number {
  try {
    const [, flags = '0'] = /flags:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return Number.parseInt(flags, 8);
  } catch {
    // The one that the folder was read with is gone again.
    return -1;
  }
}
