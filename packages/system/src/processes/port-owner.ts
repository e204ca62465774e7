import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { searchPathOutside } from './written-rule.js';

export interface PortOwnerOptions {
  platform?: NodeJS.Platform;
  /** Where the kernel's process files are. Default `/proc`. */
  procRoot?: string;
}

/**
 * Who listens on a TCP port of this machine, for an error message: `node (pid 1234)`. Undefined where that is unknown:
 * nobody listens, the system does not say (Windows), or `lsof` is missing (macOS). Never throws.
 */
export async function describePortOwner(port: number, options: PortOwnerOptions = {}): Promise<string | undefined> {
  const { platform = process.platform, procRoot = '/proc' } = options;
  try {
    if (platform === 'linux') return await ownerFromProc(port, procRoot);
    if (platform === 'darwin') return await ownerFromLsof(port);
  } catch {
    // An error message must not fail because of its decoration.
  }
  return undefined;
}

interface Listener {
  inode: string;
  uid: string;
}

async function ownerFromProc(port: number, procRoot: string): Promise<string | undefined> {
  const listeners = (await Promise.all(['tcp', 'tcp6'].map((table) => listenersIn(join(procRoot, 'net', table), port)))).flat();
  const [first] = listeners;
  if (first === undefined) return undefined;
  const pid = await pidHolding(new Set(listeners.map(({ inode }) => `socket:[${inode}]`)), procRoot);
  if (pid !== undefined) return `${await programName(pid, procRoot)} (pid ${pid})`;
  return `a process of another user (uid ${first.uid})`;
}

/** Fields of a row: number, local address, remote address, state, queues, timer, retransmits, uid, timeout, inode (proc_net_tcp(5)). */
async function listenersIn(table: string, port: number): Promise<Listener[]> {
  const listening = '0A';
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  const rows = (await readFile(table, 'utf8').catch(() => '')).split('\n').slice(1);
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , uid = '', , inode = ''] = row.trim().split(/\s+/);
    return state === listening && local.endsWith(`:${wanted}`) ? [{ inode, uid }] : [];
  });
}

/** The process that has one of these sockets open; only those of our own user can be looked into. */
async function pidHolding(sockets: ReadonlySet<string>, procRoot: string): Promise<string | undefined> {
  for (const pid of (await readdir(procRoot)).filter((name) => /^\d+$/.test(name))) {
    const folder = join(procRoot, pid, 'fd');
    for (const fd of await readdir(folder).catch(() => [])) {
      if (sockets.has(await readlink(join(folder, fd)).catch(() => ''))) return pid;
    }
  }
  return undefined;
}

/** The file that runs, since a process may call itself anything. */
async function programName(pid: string, procRoot: string): Promise<string> {
  const program = await readlink(join(procRoot, pid, 'exe')).catch(() => '');
  if (program !== '') return basename(program.replace(/ \(deleted\)$/, ''));
  return (await readFile(join(procRoot, pid, 'comm'), 'utf8').catch(() => '')).trim() || 'a process';
}

async function ownerFromLsof(port: number): Promise<string | undefined> {
  const env = { PATH: searchPathOutside(process.env.PATH ?? '') };
  const { stdout } = await promisify(execFile)('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'], { timeout: 2000, env });
  return parseLsof(stdout);
}

/** Reads `lsof -F pc`: one field per line, the first letter is its kind. */
export function parseLsof(output: string): string | undefined {
  const field = (letter: string): string | undefined =>
    output
      .split('\n')
      .find((line) => line.startsWith(letter))
      ?.slice(1);
  const pid = field('p');
  return pid === undefined ? undefined : `${field('c') ?? 'a process'} (pid ${pid})`;
}
