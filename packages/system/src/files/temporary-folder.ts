import { tmpdir } from 'node:os';

/**
 * The folder for temporary files, for what is ours alone: keys, sockets, what is run from there. `writtenFolderOf` tells the folder in which code in
 * a sandbox decides what stands at a path. Throws where it may write there: it would have the keys, and could put something else in their place.
 */
export function ownTemporaryFolder(writtenFolderOf: (path: string) => string | undefined): string {
  const parent = tmpdir();
  const written = writtenFolderOf(parent);
  if (written === undefined) return parent;
  throw new Error(
    `Nothing of Notebridge is kept in "${parent}", the folder for temporary files: code in a sandbox may write to "${written}". Set TMPDIR to another folder`,
  );
}
