import type { Readable, Writable } from 'node:stream';

/** Standard input and output of this process, for the one door that speaks on them. */
export function ownStdio(): { input: Readable; output: Writable } {
  return { input: process.stdin, output: process.stdout };
}
