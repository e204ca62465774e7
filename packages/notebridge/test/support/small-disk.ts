import { spawnSync } from 'node:child_process';
import { platform } from 'node:os';

/** Begins a command in a mount namespace of its own: nothing of it is seen elsewhere, and nothing is left of it. */
const ways = [
  ['unshare', '--mount'],
  ['unshare', '--user', '--map-root-user', '--mount'],
] as const;

/** How a program gets a small disk for itself, or why it cannot here. */
export type SmallDisk = { launch: (folder: string, size: string) => string[]; why: undefined } | { launch: undefined; why: string };

/** A disk in memory, mounted at a folder for the launched program alone. From outside it is seen as `/proc/<pid>/root<folder>`. */
export function findSmallDisk(): SmallDisk {
  if (platform() !== 'linux') return { launch: undefined, why: 'a disk for one program alone needs the mount namespaces of Linux' };
  const why: string[] = [];
  for (const way of ways) {
    const { status, stderr, error } = spawnSync(way[0], [...way.slice(1), 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { encoding: 'utf8' });
    if (status === 0) return { launch: (folder, size) => [...way, 'sh', '-c', mountAndRun, 'sh', folder, size], why: undefined };
    why.push(`${way.join(' ')}: ${error?.message ?? stderr.trim()}`);
  }
  return { launch: undefined, why: `this machine allows no mount namespace (${why.join('; ')})` };
}

const mountAndRun = 'mount -t tmpfs -o "size=$2,mode=700" tmpfs "$1" && shift 2 && exec "$@"';
