import { closeSync, constants, type Dirent, fstatSync, opendirSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@notebridge/protocol/util/message-of';

/**
 * Says who besides us may touch a secret of the user, or one that is mounted: there it is a link, and the file of another user that the group
 * may read. Undefined: nobody. Throws as `statSync` does.
 */
export function whoElseMayTouch(file: string): string | undefined {
  return othersOf(statSync(file));
}

/** Each secret of a folder, at most so many, with its file; and why there are not more. */
export interface MountedSecrets {
  secrets: { file: string; text: string }[];
  faults: string[];
}

/** A Secret of Kubernetes has some keys. In a folder of more entries nothing is read: a look at it would take long. */
const mostEntries = 256;
/** Of a secret. */
const mostBytes = 1024;

/**
 * Reads a folder in which each file is a secret, as each key of a Secret that Kubernetes mounts. Whatever stands there, it takes no time: strangers
 * may cause that it is read. Never throws.
 */
export function readMountedSecrets(folder: string, most: number): MountedSecrets {
  const faults: string[] = [];
  const secrets = namesIn(folder, { most, faults }).flatMap((name) => {
    const file = join(folder, name);
    const read = readSecret(file);
    if ('text' in read) return [{ file, text: read.text }];
    faults.push(`"${file}" opens nothing: ${read.fault}.`);
    return [];
  });
  return { secrets, faults };
}

/** Opened first: what is looked at is then what is read. Without waiting: a pipe would have us wait for a writer. */
function readSecret(file: string): { text: string } | { fault: string } {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    const fault = faultOf(stats);
    if (fault !== undefined) return { fault };
    const bytes = Buffer.alloc(stats.size);
    return { text: bytes.toString('utf8', 0, readSync(descriptor, bytes)).trim() };
  } catch (error) {
    return { fault: messageOf(error) };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function faultOf(stats: Stats): string | undefined {
  if (!stats.isFile()) return 'it is no file';
  if (stats.size > mostBytes) return `it has ${stats.size} bytes, more than ${mostBytes}`;
  const { uid = 0 } = stats;
  const own = process.getuid?.();
  // Its owner may read and write it, whatever its mode is.
  if (own !== undefined && uid !== own && uid !== 0) return `it belongs to another user (uid ${uid})`;
  return othersOf(stats);
}

function othersOf({ mode }: Stats): string | undefined {
  if (process.platform === 'win32' || (mode & 0o027) === 0) return undefined;
  return `others can read it, or the group can write it (mode ${(mode & 0o777).toString(8).padStart(3, '0')})`;
}

/** Kubernetes makes entries of its own beside the links to the keys, which begin with a dot. */
function namesIn(folder: string, { most, faults }: { most: number; faults: string[] }): string[] {
  try {
    const names = entriesOf(folder).filter((name) => !name.startsWith('.'));
    if (names.length === 0) faults.push(`There is no token in "${folder}".`);
    if (names.length > most) faults.push(`Of ${names.length} files in "${folder}" the first ${most} by name are read.`);
    return names.sort().slice(0, most);
  } catch (error) {
    faults.push(`The folder cannot be read: ${messageOf(error)}.`);
    return [];
  }
}

/** Throws if there are too many. */
function entriesOf(folder: string): string[] {
  const names: string[] = [];
  const opened = opendirSync(folder);
  try {
    for (let entry: Dirent | null = opened.readSync(); entry !== null; entry = opened.readSync()) {
      names.push(entry.name);
      if (names.length > mostEntries) throw new Error(`it has more than ${mostEntries} entries`);
    }
  } finally {
    opened.closeSync();
  }
  return names;
}
