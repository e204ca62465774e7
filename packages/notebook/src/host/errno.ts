/** The code of a system error (`EACCES`, `ENOENT`, …), or undefined for anything else that was thrown. */
export function errnoOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** Undefined for a file that is not there; everything else is thrown on. For `catch`. */
export function ignoreMissing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
  return undefined;
}

export function ignore(): undefined {
  return undefined;
}

/** Why the system refused, and what a person can do about it: two sentences. */
export function explain(thrown: unknown): string {
  const errno = errnoOf(thrown);
  const known = errno === undefined ? undefined : errnoTable[errno];
  if (known) return `${known[0]} (${errno}). ${known[1]}`;
  return `${thrown instanceof Error ? thrown.message : String(thrown)}. Look at that path and its folder.`;
}

const freeSpace = 'Free some space.';
const allow = 'Give yourself permission for that file and its folder.';
const fewer = 'Close some programs, or raise the limit of open files.';

const errnoTable: Record<string, readonly [reason: string, remedy: string]> = {
  EACCES: ['permission denied', allow],
  EPERM: ['the system does not permit it', allow],
  EROFS: ['the file system is read-only', 'Choose a place that can be written to.'],
  ENOSPC: ['no space is left on the disk', freeSpace],
  EDQUOT: ['the disk quota is used up', freeSpace],
  EFBIG: ['the file would become too large', freeSpace],
  ENOENT: ['a part of the path does not exist', 'Create the folder, or name another path.'],
  ENOTDIR: ['a part of the path is not a folder', 'Name another path, or move that file away.'],
  EISDIR: ['it is a folder', 'Name a file, or move that folder away.'],
  ELOOP: ['its symbolic links go in a circle', 'Mend the links, or name another path.'],
  ENAMETOOLONG: ['the name is too long', 'Name a shorter path.'],
  EMFILE: ['this program has too many files open', fewer],
  ENFILE: ['the system has too many files open', fewer],
  EBUSY: ['another program is using it', 'Close that program.'],
  EIO: ['the disk reported a fault', 'Check the disk.'],
};
