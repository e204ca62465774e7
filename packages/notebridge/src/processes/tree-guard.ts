import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { guardScript } from './guard-script.js';
import { searchPathOutside } from './written-rule.js';

/** One tree of processes that must not outlive us. */
export interface GuardedTree {
  /** To be put into the environment of the program: by it its descendants are known, also those that left its group. No secret. */
  readonly env: Readonly<Record<string, string>>;
  /** Sends the guard the process group, once it is there. */
  watch(pid: number): void;
  /** The tree is gone. Releasing twice is harmless. */
  release(): void;
}

const markerName = 'NOTEBRIDGE_TREE';
/** Differs for every process of ours, so that no hub takes the children of another for its own. */
const ownMarker = randomBytes(12).toString('hex');
/** A guard that ends by itself is replaced; one that cannot live here (there is no shell) is not tried for ever. */
const maxReplacements = 5;

const trees = new Map<object, number | undefined>();
let guard: ChildProcess | undefined;
let lastTree = 0;
let replacements = 0;

/**
 * Has the guard of this process look after one more tree; call it before the program is started. The guard is one small shell
 * for all trees, in a session of its own: it reads group ids from a pipe, and when the pipe ends, because we ended or were killed,
 * it ends the groups that are left, and on Linux whatever carries our marker; then itself. On Windows there is none: the system ends the direct
 * children of a Node program with it, and deeper ones are left (untested).
 */
export function guardTree(): GuardedTree {
  const key = {};
  const marker = `${ownMarker}.${++lastTree}.`;
  trees.set(key, undefined);
  if (guard === undefined) startGuard();
  return {
    env: { [markerName]: marker },
    watch(pid) {
      if (!trees.has(key)) return;
      trees.set(key, pid);
      notify(`watch ${pid}`);
    },
    release() {
      const pid = trees.get(key);
      if (!trees.delete(key)) return;
      if (pid !== undefined) notify(`release ${pid}`);
    },
  };
}

/** What a process of the tree has in its environment. */
export function markerOf({ env }: GuardedTree): string {
  return `${markerName}=${env[markerName]}`;
}

function startGuard(): void {
  if (process.platform === 'win32') return;
  const started = spawn('/bin/sh', ['-c', guardScript, 'notebridge-guard', `${markerName}=${ownMarker}.`], {
    // Without the marker, or the guard of a hub that another hub started would be ended before its work is done. The system's programs come
    // first: it looks for them as long as it lives, in folders that code may be given later.
    env: { PATH: `/usr/bin:/bin:${searchPathOutside(process.env.PATH ?? '')}` },
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard = started;
  started.unref();
  if (started.stdin !== null && 'unref' in started.stdin) (started.stdin as { unref(): void }).unref();
  started.stdin?.on('error', () => {});
  const replace = (): void => {
    if (guard !== started) return;
    guard = undefined;
    if (trees.size > 0 && ++replacements <= maxReplacements) startGuard();
  };
  started.on('error', replace);
  started.on('exit', replace);
  for (const pid of trees.values()) if (pid !== undefined) notify(`watch ${pid}`);
}

function notify(line: string): void {
  guard?.stdin?.write(`${line}\n`);
}
