import { chmodSync, chownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface VolumeGroup {
  fsGroup: number;
  fsGroupChangePolicy: 'Always' | 'OnRootMismatch';
}

/**
 * Does to a volume what the kubelet does when it mounts it for a pod: all of it belongs to the group, which may read and write it. With
 * `OnRootMismatch` only if its topmost folder is not so already.
 */
export function mountAsKubelet(root: string, { fsGroup, fsGroupChangePolicy }: VolumeGroup): void {
  const { gid, mode } = lstatSync(root);
  const isDone = gid === fsGroup && (mode & 0o2770) === 0o2770;
  if (fsGroupChangePolicy === 'Always' || !isDone) openToGroup(root, fsGroup);
}

function openToGroup(path: string, group: number): void {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return;
  chownSync(path, found.uid, group);
  chmodSync(path, (found.mode & 0o7777) | (found.isDirectory() ? 0o2770 : 0o660));
  if (found.isDirectory()) for (const name of readdirSync(path)) openToGroup(join(path, name), group);
}
