// Every child process of the bench, so that none outlives it, however it ends.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { treeOf } from './proc.mjs';

const alive = new Set();

/** A home of our own: no config, log or running hub of the user's is touched. */
export const home = mkdtempSync(join(tmpdir(), 'notebridge-bench-'));
const { PATH = '', SystemRoot } = process.env;
const env = {
  PATH,
  HOME: home,
  USERPROFILE: home,
  XDG_STATE_HOME: join(home, 'state'),
  XDG_CONFIG_HOME: join(home, 'config'),
  ...(SystemRoot === undefined ? {} : { SystemRoot }),
};

process.on('exit', () => {
  for (const child of alive) kill(child);
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));

/** Starts this Node with `args`. */
export function startNode(args, options) {
  return startProgram(process.execPath, args, options);
}

/** Starts a program. Its pipes are the caller's; what it says on stderr is kept in `child.complaints`. */
export function startProgram(command, args, { env: more = {}, cwd = home } = {}) {
  const child = spawn(command, args, { env: { ...env, ...more }, cwd, stdio: 'pipe' });
  alive.add(child);
  child.complaints = '';
  child.ended = new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', resolve);
  }).then(() => alive.delete(child));
  child.stdin.on('error', () => {});
  child.stderr.setEncoding('utf8').on('data', (text) => {
    child.complaints = (child.complaints + text).slice(-10_000);
  });
  return child;
}

/** Closes its stdin, at which all our children end; one that does not within `ms` is killed, and its children with it. */
export async function endChild(child, ms = 5000) {
  child.stdin.end();
  const timer = setTimeout(kill, ms, child);
  await child.ended;
  clearTimeout(timer);
}

/** Asks it to end, and kills it if it has not within `ms`; then whatever it had started and left behind. */
export async function stopChild(child, ms = 2000) {
  const tree = child.pid === undefined ? [] : treeOf(child.pid);
  child.kill('SIGTERM');
  const timer = setTimeout(kill, ms, child);
  await child.ended;
  clearTimeout(timer);
  killAll(tree.slice(1));
}

/** The promise, or an error that says what was waited for. */
export async function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${ms / 1000} s.`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function kill(child) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  killAll(treeOf(child.pid));
}

function killAll(pids) {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}
