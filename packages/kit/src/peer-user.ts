import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { isIPv4, type Socket } from 'node:net';
import { endianness, release } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * The user at the other end of a connection: the number of one of this machine; `elsewhere`: another machine, or nobody can tell; `unknown`: this
 * system does not say it of any connection.
 */
export type PeerUser = number | 'elsewhere' | 'unknown';

/** The kernel's tables of connections (proc(5)). A program may reach an IPv4 port by an IPv6 socket, so that it stands in the second. */
const tables = ['/proc/net/tcp', '/proc/net/tcp6'];
/** Whoever makes connections by the ten thousand must not keep us reading. */
const maxTableBytes = 32 * 1024 * 1024;
const maxWaiting = 64;
/** A read gives a page, and a trip to another thread for each would cost a hundred times as much. After so long others have their turn. Milliseconds. */
const turnMs = 2;
/** A connection that is open, as both ends see it. */
const established = '01';
/** Longer than a line. Characters. */
const maxLine = 256;

const known = new WeakMap<Socket, Promise<PeerUser>>();
let waiting = 0;
let queue: Promise<unknown> = Promise.resolve();

/**
 * Finds out who is at the other end, once for each connection: it never changes. The tables are read piece by piece, in turn, so that nothing else
 * waits for it, however long they are.
 */
export function userOfPeer(socket: Socket): Promise<PeerUser> {
  const found = known.get(socket) ?? lookUp(socket);
  known.set(socket, found);
  return found;
}

/** True for a connection of a program of this user. Of a system that does not say it: true. */
export async function isOwnPeer(socket: Socket): Promise<boolean> {
  const user = await userOfPeer(socket);
  return user === 'unknown' || user === process.geteuid?.();
}

/** WSL has a user for all that comes from Windows. */
function isToldBySystem(): boolean {
  return process.platform === 'linux' && !/microsoft/i.test(release());
}

async function lookUp(socket: Socket): Promise<PeerUser> {
  if (!isToldBySystem()) return 'unknown';
  const needles = toNeedles(socket);
  if (needles.length === 0 || waiting >= maxWaiting) return 'elsewhere';
  waiting++;
  // One after the other; a read that has begun may have passed the place where a newer connection stands.
  const found = queue.then(() => findTwice(needles));
  queue = found;
  const user = await found;
  waiting--;
  // One that has gone meanwhile proves nothing: its number may be another's now.
  return socket.destroyed ? 'elsewhere' : user;
}

/** A table that changes while it is read may leave a line out. Never rejects. */
async function findTwice(needles: readonly string[]): Promise<PeerUser> {
  for (let times = 0; times < 2; times++) {
    for (const table of tables) {
      const line = await findLine(table, needles).catch(() => undefined);
      const user = line === undefined ? undefined : toUser(line);
      if (user !== undefined) return user;
    }
  }
  return 'elsewhere';
}

/** The text from one of the needles to the end of its line. */
async function findLine(table: string, needles: readonly string[]): Promise<string | undefined> {
  const file = openSync(table, 'r');
  try {
    const piece = Buffer.alloc(65_536);
    let text = '';
    let turnEnds = performance.now() + turnMs;
    for (let bytes = 0; bytes < maxTableBytes; ) {
      const read = readSync(file, piece);
      if (read === 0) return undefined;
      bytes += read;
      text = text.slice(-maxLine) + piece.toString('latin1', 0, read);
      for (const needle of needles) {
        const at = text.indexOf(needle);
        const end = at < 0 ? -1 : text.indexOf('\n', at);
        if (end >= 0) return text.slice(at + needle.length, end);
      }
      if (performance.now() < turnEnds) continue;
      await nextTurn();
      turnEnds = performance.now() + turnMs;
    }
    return undefined;
  } finally {
    closeSync(file);
  }
}

/**
 * What stands before state and user in the line of the other end: its address, which is our remote one, and then ours. Both ends have a line,
 * and ours has them the other way round.
 */
function toNeedles({ remoteAddress, remotePort, localAddress, localPort }: Socket): string[] {
  if (remoteAddress === undefined || localAddress === undefined || remotePort === undefined || localPort === undefined) return [];
  const [theirs, ours] = [toBytes(remoteAddress), toBytes(localAddress)];
  if (theirs === undefined || ours === undefined) return [];
  const toEnd = (bytes: readonly number[], port: number): string => `${toHex(bytes)}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const needle = (one: readonly number[], other: readonly number[]): string =>
    `: ${toEnd(one, remotePort)} ${toEnd(other, localPort)} ${established} `;
  const mapped = (bytes: readonly number[]): readonly number[] => (bytes.length === 16 ? bytes : [...mappedPrefix, ...bytes]);
  return theirs.length === 16 && ours.length === 16 ? [needle(theirs, ours)] : [needle(theirs, ours), needle(mapped(theirs), mapped(ours))];
}

const mappedPrefix = [...Array<number>(10).fill(0), 255, 255];

/** Four bytes also for an IPv4 address in the form of an IPv6 one. */
function toBytes(address: string): number[] | undefined {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (isIPv4(plain)) return plain.split('.').map(Number);
  const [head = '', tail] = plain.split('::');
  const words = (text: string): number[] => (text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16)));
  const [before, after] = [words(head), words(tail ?? '')];
  const all = tail === undefined ? before : [...before, ...Array<number>(Math.max(0, 8 - before.length - after.length)).fill(0), ...after];
  if (all.length !== 8 || all.some((word) => Number.isNaN(word))) return undefined;
  return all.flatMap((word) => [word >> 8, word & 255]);
}

/** Words of 32 bits, each as the machine has it. */
function toHex(bytes: readonly number[]): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    const word = bytes.slice(at, at + 4);
    text += Buffer.from(endianness() === 'LE' ? word.reverse() : word).toString('hex');
  }
  return text.toUpperCase();
}

/**
 * The user of a line, from its queues on. Undefined for a socket that no program holds any more: it counts as root's. Users that a namespace
 * has no number for all look alike, so that who has that number here cannot be told from them.
 */
function toUser(rest: string): number | undefined {
  const [, , , user, , inode] = rest.trim().split(/ +/);
  if (user === undefined || inode === undefined || inode === '0') return undefined;
  if (Number(user) === overflowUser && isInNamespace()) return undefined;
  return Number(user);
}

const overflowUser = 65_534;

function isInNamespace(): boolean {
  try {
    return !/^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'utf8'));
  } catch {
    return true;
  }
}
