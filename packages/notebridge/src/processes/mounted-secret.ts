import { statSync } from 'node:fs';

/**
 * Says who besides us may touch a secret of the user, or one that is mounted: there it is a link, and the file of another user that the group
 * may read. Undefined: nobody. Throws as `statSync` does.
 */
export function whoElseMayTouch(file: string): string | undefined {
  const { mode } = statSync(file);
  if (process.platform === 'win32' || (mode & 0o027) === 0) return undefined;
  return `others can read it, or the group can write it (mode ${(mode & 0o777).toString(8).padStart(3, '0')})`;
}
