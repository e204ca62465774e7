import { statSync } from 'node:fs';
import { parseMounts } from '@notebridge/kit/mounts';
import { textIn } from '@notebridge/kit/seen-files';
import type { SandboxSpec } from './spec.js';

/**
 * Watches the mounts that keep code from paths below its writable folders: Linux takes a mount away when its path is replaced from outside
 * (an editor's rename, `uv venv --clear`); and a folder that is moved is written to under its new name. Returns a function that, given the
 * sandbox's first process, says in words which path was replaced or which folder was moved; undefined: none.
 */
export function watchMounts({ mounts = [] }: SandboxSpec, bound: readonly string[]): (first: number) => string | undefined {
  const writable = mounts.filter(({ access }) => access === 'rw').map(({ path }) => ({ path, identity: fileIdentityOf(path) }));
  if (writable.length === 0) return () => undefined;
  return (first) => {
    const moved = writable.find(({ path, identity }) => fileIdentityOf(path) !== identity);
    if (moved) return `"${moved.path}", to which its code may write, was moved or replaced`;
    // A process that has just ended has none.
    const mounts = textIn(`/proc/${first}/mountinfo`);
    const seen = mounts === undefined ? bound : parseMounts(mounts).map(({ path }) => path);
    const lost = bound.find((path) => !seen.includes(path));
    return lost === undefined ? undefined : `"${lost}" was replaced from outside, so nothing kept its code from it any more`;
  };
}

/** Which file or folder a path leads to. Undefined: none that can be seen. */
function fileIdentityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
