import { writeFileSync } from 'node:fs';
import { platform } from 'node:os';
import { clockLibrary } from '../../../../scripts/clock-library.mjs';

const library = clockLibrary();

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
