import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { programFile } from './program.js';

/** The environment of a shell that has the command `notebridge`, as after the README's `npm install --global`: a link to the program. */
export function withCommand<Env extends Record<string, string | undefined>>(env: Env, folder: string): Env & { PATH: string } {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  rmSync(join(bin, 'notebridge'), { force: true });
  symlinkSync(programFile, join(bin, 'notebridge'));
  return { ...env, PATH: `${bin}${delimiter}${env.PATH ?? ''}` };
}
