import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the project that a folder belongs to: the nearest above it, or itself, that git knows; else itself. As Claude Code 2.1 takes it. */
export function projectOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return folder;
  }
}
