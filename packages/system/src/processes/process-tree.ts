import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';

/** A program that leads a process group of its own, and all that it started. */
export interface ProcessTree {
  /** The leader: its id is that of the group and of the session. */
  readonly pid: number;
  /** What each of them has in its environment, as `NAME=value`. */
  readonly marker: string;
}

/** Ends what of a tree is still there: by SIGTERM, after `timeoutMs` by SIGKILL. Resolves when nothing is left. */
export async function endTree(tree: ProcessTree, timeoutMs: number): Promise<void> {
  // Of a process that is just ending the environment is gone before the process is.
  const seen = new Set<number>();
  const startMs = performance.now();
  // One look is not enough: a process may have been started while it went on.
  for (let emptyLooks = 0; emptyLooks < 2; await pause()) {
    const told = new Set(seen);
    const { members, isSure } = await look(tree, seen);
    const waitedMs = performance.now() - startMs;
    emptyLooks = members.length === 0 && (isSure || waitedMs >= startingMs) ? emptyLooks + 1 : 0;
    if (waitedMs >= timeoutMs + lastWaitMs) return;
    if (waitedMs >= timeoutMs) sendSignal(tree, members, 'SIGKILL');
    else
      sendSignal(
        tree,
        members.filter((member) => !told.has(member)),
        'SIGTERM',
      );
  }
}

const pollMs = 25;
/** A program that is being started is waited for so long, and no longer: a process may well stay odd. */
const startingMs = 1000;
/** PF_KTHREAD of Linux. */
const systemThread = 0x00200000;

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pollMs));
}

/** What SIGKILL does not end hangs in the system (a dead network drive); we don't hang with it. */
const lastWaitMs = 2000;

interface Look {
  readonly members: readonly number[];
  /** False while a process is just being started, whose owner is not known yet. On a busy machine that takes its time. */
  readonly isSure: boolean;
}

/**
 * The ids of those that live; zombies do not. Linux knows them by group, session and environment; elsewhere only the group is
 * asked, which stands as the negative id of the leader.
 */
async function look(tree: ProcessTree, seen: Set<number>): Promise<Look> {
  if (process.platform === 'linux') {
    const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const found = await Promise.all(names.map((name) => belongs(name, tree, seen)));
    const members = names.filter((_, index) => found[index] === 'yes').map(Number);
    for (const member of members) seen.add(member);
    return { members, isSure: !found.includes('unknown') };
  }
  const target = process.platform === 'win32' ? tree.pid : -tree.pid;
  return { members: trySignal(target, 0) ? [target] : [], isSure: true };
}

async function belongs(name: string, { pid, marker }: ProcessTree, seen: ReadonlySet<number>): Promise<'yes' | 'no' | 'unknown'> {
  const stat = await readOrEmpty(`/proc/${name}/stat`);
  // The second field is the name in parentheses, and may hold anything.
  const [state = 'X', , group, session, , , flags] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z' || state === 'X' || stat === '') return 'no';
  if (Number(group) === pid || Number(session) === pid || seen.has(Number(name))) return 'yes';
  const environment = await readOrEmpty(`/proc/${name}/environ`);
  if (environment !== '') return environment.includes(`${marker}\0`) ? 'yes' : 'no';
  // In the middle of `exec` both are empty; a process whose environment stays empty has a command, but for threads of the system.
  const isOfTheSystem = (Number(flags) & systemThread) !== 0;
  return isOfTheSystem || (await readOrEmpty(`/proc/${name}/cmdline`)) !== '' ? 'no' : 'unknown';
}

function sendSignal({ pid }: ProcessTree, members: readonly number[], signal: NodeJS.Signals): void {
  if (members.length === 0) return;
  if (process.platform === 'win32') {
    // Untested. It knows no gentle way for a program without a window.
    spawn('taskkill', ['/T', '/F', '/PID', String(pid)], { stdio: 'ignore', windowsHide: true }).on('error', () => {});
    return;
  }
  // All of the group at once, so that none of it can have children between two signals. A polite signal comes only once.
  if (signal === 'SIGKILL') trySignal(-pid, signal);
  for (const member of members) trySignal(member, signal);
}

function trySignal(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    return false;
  }
}

async function readOrEmpty(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch {
    return '';
  }
}
