import { existsSync, writeFileSync } from 'node:fs';
import { platform } from 'node:os';

const places = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map((machine) => `/usr/lib/${machine}/faketime/libfaketime.so.1`);
const library = [...places, '/usr/lib64/faketime/libfaketime.so.1', '/usr/lib/faketime/libfaketime.so.1'].find((path) => existsSync(path));

/** Why the clock of a program cannot be set here; undefined if it can. */
export const whyNoClock =
  library !== undefined
    ? undefined
    : platform() === 'linux'
      ? 'install libfaketime (apt-get install libfaketime)'
      : 'libfaketime is for Linux here';

/** A clock for a program of its own: what is set is what the program is told from then on. Its steady clock and its timers go on as ever. */
export interface SettableClock {
  env: Record<string, string>;
  /** How far it is from the true time: `+0`, `-1d`, `+2h`. */
  set(offset: string): void;
}

/** `file` tells the program. */
export function settableClock(file: string): SettableClock {
  const set = (offset: string): void => writeFileSync(file, `${offset}\n`);
  set('+0');
  const env = { LD_PRELOAD: library ?? '', FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', DONT_FAKE_MONOTONIC: '1' };
  return { env, set };
}
