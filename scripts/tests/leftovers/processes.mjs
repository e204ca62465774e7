// Which processes a test file left behind, and where they listen. Linux alone tells of processes that have lost their parent.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** @typedef {{ pid: number, state: string, parent: number, group: number, session: number, startTime: string }} Entry */

export const seesAllProcesses = process.platform === 'linux';

/**
 * The processes that live and come from here: the descendants of this process, those of a group or session that it began, and those that
 * have the folder in their environment, command or working directory, whoever their parent is by now.
 * @param {string} folder The temporary folder of the test file.
 * @param {ReadonlySet<number>} started The process ids that this process has started.
 * @returns {{ pid: number, parent: number, command: string, startTime: string, started: number | undefined }[]} `started` is the one of `started` that it comes from.
 */
export function processesFrom(folder, started) {
  const entries = processIds().flatMap((pid) => entryOf(pid) ?? []);
  const all = new Map(entries.map((entry) => [entry.pid, entry]));
  return entries.flatMap((entry) => {
    if (entry.pid === process.pid || entry.state === 'Z') return [];
    const from = ancestorsOf(entry, all);
    const own = [entry.pid, ...from, entry.group, entry.session].find((pid) => started.has(pid));
    const isOurs = own !== undefined || from.includes(process.pid) || names(entry.pid, folder);
    return isOurs ? [{ ...entry, command: commandOf(entry.pid), started: own }] : [];
  });
}

/**
 * Ends it, if it is still the same process.
 * @param {{ pid: number, startTime: string }} left
 */
export function endProcess({ pid, startTime }) {
  if (entryOf(pid)?.startTime !== startTime) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended in between.
  }
}

/**
 * Where a process listens: `127.0.0.1:8765`, or the path of a socket.
 * @param {number} pid
 * @returns {string[]}
 */
export function listensAt(pid) {
  const inodes = new Set(socketInodes(pid));
  if (inodes.size === 0) return [];
  return listeningSockets(pid).flatMap(({ inode, address }) => (inodes.has(inode) ? [address] : []));
}

function processIds() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/**
 * Nothing for a process that has just ended.
 * @param {number} pid
 * @returns {Entry | undefined}
 */
function entryOf(pid) {
  const stat = textOf(`/proc/${pid}/stat`);
  // The command stands in brackets, and may hold brackets and spaces itself.
  const [state, parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (!state) return undefined;
  return { pid, state, parent: Number(parent), group: Number(group), session: Number(session), startTime: rest[15] ?? '' };
}

/**
 * @param {Entry} entry
 * @param {ReadonlyMap<number, Entry>} all
 */
function ancestorsOf(entry, all) {
  /** @type {number[]} */
  const found = [];
  for (let next = all.get(entry.parent); next && !found.includes(next.pid); next = all.get(next.parent)) found.push(next.pid);
  return found;
}

/**
 * @param {number} pid
 * @param {string} folder
 */
function names(pid, folder) {
  return (
    textOf(`/proc/${pid}/environ`).includes(folder) ||
    textOf(`/proc/${pid}/cmdline`).includes(folder) ||
    linkOf(`/proc/${pid}/cwd`).startsWith(folder)
  );
}

/** @param {number} pid */
function commandOf(pid) {
  const words = textOf(`/proc/${pid}/cmdline`).split('\0').join(' ').trim();
  return words || textOf(`/proc/${pid}/comm`).trim();
}

/** @param {number} pid */
function socketInodes(pid) {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
    return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
  } catch {
    return [];
  }
}

/**
 * Read through the process itself: it may live in a network of its own.
 * @param {number} pid
 */
function listeningSockets(pid) {
  const tcp = ['tcp', 'tcp6'].flatMap((kind) =>
    rowsOf(`/proc/${pid}/net/${kind}`).flatMap(([, local = '', , state, , , , , , inode = '']) =>
      state === '0A' ? [{ inode, address: toAddress(local) }] : [],
    ),
  );
  const unix = rowsOf(`/proc/${pid}/net/unix`).flatMap(([, , , flags, , , inode = '', path]) =>
    flags === '00010000' ? [{ inode, address: path ?? 'a socket without a name' }] : [],
  );
  return [...tcp, ...unix];
}

/** @param {string} file */
function rowsOf(file) {
  return textOf(file)
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/));
}

/** @param {string} text An address in hexadecimal, the bytes of each word turned round. */
function toAddress(text) {
  const [host = '', port = ''] = text.split(':');
  const bytes = (host.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).reverse();
  return `${bytes.length === 4 ? bytes.join('.') : `[${host}]`}:${Number.parseInt(port, 16)}`;
}

/** @param {string} file */
function textOf(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** @param {string} file */
function linkOf(file) {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}
