import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@notebridge/kit/message-of';

/**
 * Says who besides us may touch a secret of the user, or one that is mounted: there it is a link, and the file of another user that the group
 * may read. Undefined: nobody. Throws as `statSync` does.
 */
export function whoElseMayTouch(file: string): string | undefined {
  const { mode } = statSync(file);
  if (process.platform === 'win32' || (mode & 0o027) === 0) return undefined;
  return `others can read it, or the group can write it (mode ${(mode & 0o777).toString(8).padStart(3, '0')})`;
}

/** Each secret of a folder, at most so many, with its file; and why there are not more. */
export interface MountedSecrets {
  secrets: { file: string; text: string }[];
  faults: string[];
}

/** Reads a folder in which each file is a secret, as each key of a Secret that Kubernetes mounts. Never throws. */
export function readMountedSecrets(folder: string, most: number): MountedSecrets {
  const faults: string[] = [];
  const secrets = namesIn(folder, { most, faults }).flatMap((name) => {
    const file = join(folder, name);
    try {
      const others = whoElseMayTouch(file);
      if (others === undefined) return [{ file, text: readFileSync(file, 'utf8').trim() }];
      faults.push(`"${file}" opens nothing: ${others}.`);
    } catch (error) {
      faults.push(`"${file}" opens nothing: ${messageOf(error)}.`);
    }
    return [];
  });
  return { secrets, faults };
}

/** Kubernetes makes entries of its own beside the links to the keys, which begin with a dot. */
function namesIn(folder: string, { most, faults }: { most: number; faults: string[] }): string[] {
  try {
    const names = readdirSync(folder).filter((name) => !name.startsWith('.'));
    if (names.length === 0) faults.push(`There is no token in "${folder}".`);
    if (names.length > most) faults.push(`Of ${names.length} files in "${folder}" the first ${most} by name are read.`);
    return names.sort().slice(0, most);
  } catch (error) {
    faults.push(`The folder cannot be read: ${messageOf(error)}.`);
    return [];
  }
}
