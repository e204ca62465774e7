/** The code of a system error (`EACCES`, `ENOENT`, …), or undefined for anything else that was thrown. */
export function errnoOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** Why the system refused, in words, with its code for those who search for it. */
export function reasonOf(thrown: unknown): string {
  const errno = errnoOf(thrown);
  const known = errno === undefined ? undefined : errnoTable[errno];
  if (known !== undefined) return `${known.reason} (${errno})`;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** What a person can do about it: one sentence. */
export function remedyOf(thrown: unknown): string {
  return errnoTable[errnoOf(thrown) ?? '']?.remedy ?? 'Look at that path and its folder, then try again.';
}

/** Why the system refused, and what a person can do about it: two sentences. */
export function explain(thrown: unknown): string {
  return `${reasonOf(thrown)}. ${remedyOf(thrown)}`;
}

/** Undefined for a file that is not there; everything else is thrown on. For `catch`. */
export function ignoreMissing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
  return undefined;
}

/** For `catch` where a failure is no news. */
export function ignore(): undefined {
  return undefined;
}

const freeSpace = 'Free some space, then try again.';
const allow = 'Give yourself permission for that path and its folder, then try again.';
const fewer = 'Close some programs or raise the limit of open files, then try again.';

const errnoTable: Record<string, { reason: string; remedy: string }> = {
  EACCES: { reason: 'permission denied', remedy: allow },
  EPERM: { reason: 'the system does not permit it', remedy: allow },
  EROFS: { reason: 'the file system is read-only', remedy: 'Choose a place on a file system that can be written to.' },
  ENOSPC: { reason: 'no space is left on the disk', remedy: freeSpace },
  EDQUOT: { reason: 'the disk quota is used up', remedy: freeSpace },
  EFBIG: { reason: 'the file would become too large', remedy: freeSpace },
  ENOENT: { reason: 'a part of the path does not exist', remedy: 'Create the folder, or name another path.' },
  ENOTDIR: { reason: 'a part of the path is not a folder', remedy: 'Name another path, or move that file away.' },
  EISDIR: { reason: 'it is a folder', remedy: 'Name a file, or move that folder away.' },
  ELOOP: { reason: 'its symbolic links go in a circle', remedy: 'Correct the links, or name another path.' },
  ENAMETOOLONG: { reason: 'the name is too long', remedy: 'Name a shorter path.' },
  EMFILE: { reason: 'this program has too many files open', remedy: fewer },
  ENFILE: { reason: 'the system has too many files open', remedy: fewer },
  EBUSY: { reason: 'another program is using it', remedy: 'Close that program, then try again.' },
  ETXTBSY: { reason: 'another program is running it', remedy: 'Close that program, then try again.' },
  EIO: { reason: 'the disk reported a fault', remedy: 'Check the disk, then try again.' },
};
