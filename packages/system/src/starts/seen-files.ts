import { type Dirent, readdirSync, readFileSync, realpathSync } from 'node:fs';

// What the system shows of a path. Nothing where it shows none: it is not there, or not for us to see.

/** The names in a folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The names in a folder, with what they are. */
export function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** A path without links that leads to the same. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** All of a file of the system's, as of /proc. Of a stranger's file `readSmallFile` takes no more than it should. */
export function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
