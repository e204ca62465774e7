import { closeSync, openSync, readSync } from 'node:fs';
import { isIPv4, type Socket } from 'node:net';
import { endianness, release } from 'node:os';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { textIn } from '../starts/seen-files.js';

/**
 * The user at the other end of a connection: the number of one of this machine; `elsewhere`: another machine, or nobody can tell; `unknown`: this
 * system does not say it of any connection.
 */
export type PeerUser = number | 'elsewhere' | 'unknown';

/** The kernel's tables of connections (proc(5)). A program may reach an IPv4 port by an IPv6 socket, so that it stands in the second. */
const tables = ['/proc/net/tcp', '/proc/net/tcp6'];
/** Whoever makes connections by the ten thousand must not keep us reading. */
const maxTableBytes = 32 * 1024 * 1024;
/** A read gives a page, and a trip to another thread for each would cost a hundred times as much. After so long others have their turn. Milliseconds. */
const turnMs = 2;
/** A connection that is open, as both ends see it. */
const established = '01';

interface Wanted {
  /** How the line of the other end may begin. */
  keys: readonly string[];
  found: (user: number | undefined) => void;
}

const known = new WeakMap<Socket, Promise<PeerUser>>();
/** Looked up together by the next pass over the tables: of pages thousands may dial at once. */
let waiting: Wanted[] = [];
let isPassing = false;

/**
 * Finds out who is at the other end, once for each connection: it never changes. The tables are read piece by piece, so that nothing else waits
 * for it, however long they are.
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

/** Whether the other end of a connection from this address is on this machine for certain. */
export function isLoopback(address = ''): boolean {
  return address === '::1' || /^(::ffff:)?127\./i.test(address);
}

/** WSL has a user for all that comes from Windows. */
function isToldBySystem(): boolean {
  return process.platform === 'linux' && !/microsoft/i.test(release());
}

async function lookUp(socket: Socket): Promise<PeerUser> {
  if (!isToldBySystem()) return 'unknown';
  const keys = toKeys(socket);
  if (keys.length === 0) return 'elsewhere';
  const user = (await findPatiently(keys, isLoopback(socket.remoteAddress) ? pausesMs : [0])) ?? 'elsewhere';
  // One that has gone meanwhile proves nothing: its number may be another's now.
  return socket.destroyed ? 'elsewhere' : user;
}

/** The other end of a loopback connection is on this machine, so it is looked for longer. Milliseconds before each further pass. */
const pausesMs = [0, 5, 10, 20, 40];

/** A table that changes while it is read may leave a line out, and where descriptors are short it cannot be read just now. */
async function findPatiently(keys: readonly string[], pauses: readonly number[]): Promise<number | undefined> {
  let user = await findIn(keys);
  for (const ms of pauses) {
    if (user !== undefined) break;
    if (ms > 0) await pause(ms);
    user = await findIn(keys);
  }
  return user;
}

function findIn(keys: readonly string[]): Promise<number | undefined> {
  return new Promise((found) => {
    waiting.push({ keys, found });
    if (!isPassing) void passAll();
  });
}

/** One pass after the other: one that has begun may be past the place where a newer connection stands. Never rejects. */
async function passAll(): Promise<void> {
  isPassing = true;
  // All of this turn of the loop have their pass together.
  await nextTurn();
  while (waiting.length > 0) {
    const batch = waiting;
    waiting = [];
    const wanted = new Map(batch.flatMap((one) => one.keys.map((key) => [key, one] as const)));
    for (const table of tables) if (wanted.size > 0) await findAll(table, wanted).catch(() => {});
    // The connections that were found are settled already; this settles the rest.
    for (const { found } of batch) found(undefined);
  }
  isPassing = false;
}

async function findAll(table: string, wanted: Map<string, Wanted>): Promise<void> {
  const file = openSync(table, 'r');
  try {
    const piece = Buffer.alloc(65_536);
    let rest = '';
    let turnEnds = performance.now() + turnMs;
    for (let bytes = 0; bytes < maxTableBytes; ) {
      const read = readSync(file, piece);
      if (read === 0) return;
      bytes += read;
      const lines = (rest + piece.toString('latin1', 0, read)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) take(line, wanted);
      if (wanted.size === 0) return;
      if (performance.now() < turnEnds) continue;
      await nextTurn();
      turnEnds = performance.now() + turnMs;
    }
  } finally {
    closeSync(file);
  }
}

/** Not taken apart before it is known to be wanted: there may be tens of thousands. */
function take(line: string, wanted: Map<string, Wanted>): void {
  const at = line.indexOf(': ') + 2;
  const end = line.indexOf(' ', line.indexOf(' ', at) + 1);
  const one = wanted.get(line.slice(at, end));
  if (one === undefined) return;
  const [state, , , , user, , inode] = line.slice(end).trim().split(/ +/);
  // A socket that no program holds any more counts as root's.
  if (state !== established || user === undefined || inode === undefined || inode === '0') return;
  // Users that a namespace has no number for all look alike, so that who has that number here cannot be told from them.
  if (Number(user) === overflowUser && isInNamespace()) return;
  for (const key of one.keys) wanted.delete(key);
  one.found(Number(user));
}

/** How the line of the other end begins: its address, which is our remote one, and then ours. Our own line has them the other way round. */
function toKeys({ remoteAddress, remotePort, localAddress, localPort }: Socket): string[] {
  if (remoteAddress === undefined || localAddress === undefined || remotePort === undefined || localPort === undefined) return [];
  const [theirs, ours] = [toBytes(remoteAddress), toBytes(localAddress)];
  if (theirs === undefined || ours === undefined) return [];
  const toEnd = (bytes: readonly number[], port: number): string => `${toHex(bytes)}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const key = (one: readonly number[], other: readonly number[]): string => `${toEnd(one, remotePort)} ${toEnd(other, localPort)}`;
  if (theirs.length === 16 || ours.length === 16) return [key(theirs, ours)];
  return [key(theirs, ours), key([...mappedPrefix, ...theirs], [...mappedPrefix, ...ours])];
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

const overflowUser = 65_534;

function isInNamespace(): boolean {
  return !/^\s*0\s+0\s+4294967295\s*$/.test(textIn('/proc/self/uid_map') ?? '');
}
