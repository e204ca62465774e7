import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { guardScript } from './guard-script.js';
import { endTree } from './process-tree.js';
import { type OutsideStart, startOutside } from './start-outside.js';
import { searchPathOutside } from './written-rule.js';

/** A program whose whole tree of processes does not outlive us. */
export interface GuardedProgram {
  /** Why it could not be started, where that is known at once: the rule refuses it, or Node throws for words that no system takes. */
  readonly child: ChildProcess | Error;
  /** Ends what of its tree is still there: by SIGTERM, after `timeoutMs` by SIGKILL. Resolves when nothing is left. Twice is harmless. */
  end(timeoutMs: number): Promise<void>;
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
 * Starts a program without a shell, in a process group of its own, as one more tree that the guard of this process looks after. The guard is one
 * small shell for all trees, in a session of its own: it reads group ids from a pipe, and when the pipe ends, because we ended or were killed,
 * it ends the groups that are left, and on Linux whatever carries our marker; then itself. On Windows there is none: the system ends the direct
 * children of a Node program with it, and deeper ones are left (untested).
 */
export function startGuarded(program: Omit<OutsideStart, 'marker'>, stdio: StdioOptions): GuardedProgram {
  const tree = {};
  const marker = `${ownMarker}.${++lastTree}.`;
  trees.set(tree, undefined);
  if (guard === undefined) startGuard();
  // By the marker its descendants are known, also those that left its group. It is no secret.
  const child = start({ ...program, marker: { [markerName]: marker } }, stdio);
  const pid = child instanceof Error ? undefined : child.pid;
  if (pid === undefined) trees.delete(tree);
  else {
    trees.set(tree, pid);
    notify(`watch ${pid}`);
  }
  return {
    child,
    end: async (timeoutMs) => {
      if (pid === undefined) return;
      await endTree({ pid, marker: `${markerName}=${marker}` }, timeoutMs);
      if (trees.delete(tree)) notify(`release ${pid}`);
    },
  };
}

function start(program: OutsideStart, stdio: StdioOptions): ChildProcess | Error {
  try {
    // A group of its own; on Windows it would mean a window of its own.
    return startOutside(program, { stdio, detached: process.platform !== 'win32', windowsHide: true });
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  }
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
