import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { parseMounts } from '@notebridge/system/starts/mounts';
import { textIn } from '@notebridge/system/starts/seen-files';
import type { ControlGroups } from './control-groups.js';
import { groupBoundsOf, maxDataBytesOf, maxProcessesOf, maxThreadsOf } from './limits.js';
import type { SandboxedProcess, SandboxSpec } from './spec.js';
import { killProcess } from './start-program.js';

/** A fork bomb makes some thousand processes in this time, where Linux does not bound them; it ends them all at once with the first one. */
const everyMs = 100;

export interface WatchOptions {
  groups?: Pick<ControlGroups, 'hasOverflowed'> | undefined;
  /** Why the first process is no longer kept from what it was kept from. */
  findLost?: ((first: number) => string | undefined) | undefined;
}

/**
 * Bounds that Linux sets for each process only, or not for root: processes and threads, and the memory of all together. Looks from
 * outside, and ends the first process beyond one, which ends all. Returns what tells why. Where `groups` hold them as well, they hold
 * however late this comes.
 */
export function watchBounds(
  child: SandboxedProcess['child'],
  pid: Promise<number | undefined>,
  spec: SandboxSpec,
  { groups, findLost }: WatchOptions = {},
): () => string | undefined {
  let breach: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isMeasuring = false;
  const end = (first: number, reason: string) => {
    breach ??= reason;
    clearInterval(timer);
    if (child.exitCode !== null || child.signalCode !== null) return;
    killProcess(first);
    child.kill('SIGKILL');
  };
  const toReason = (bytes: number) => `its processes used ${toMebibytes(bytes)} of memory, of ${toMebibytes(maxDataBytesOf(spec))}`;
  const endForMemory = (first: number, bytes: number) => end(first, toReason(bytes));
  const look = (first: number) => {
    // One of them was ended by Linux, which says to nobody why.
    if (groups?.hasOverflowed()) return endForMemory(first, groupBoundsOf(spec).bytes);
    const found = count(first);
    if (!found) return;
    const reason = judge(found, spec) ?? findLost?.(first);
    if (reason !== undefined) return end(first, reason);
    if (found.bytes <= maxDataBytesOf(spec) || isMeasuring) return;
    isMeasuring = true;
    void measureMemory(first, found.pids)
      .then((bytes) => {
        if (bytes > maxDataBytesOf(spec)) endForMemory(first, bytes);
      })
      .finally(() => {
        isMeasuring = false;
      });
  };
  // Linux may have ended the very process that all end with, before anybody looked. The group is gone soon after.
  child.once('exit', () => {
    if (groups?.hasOverflowed()) breach ??= toReason(groupBoundsOf(spec).bytes);
  });
  void pid.then((first) => {
    if (first === undefined || child.exitCode !== null || child.signalCode !== null) return;
    timer = setInterval(() => look(first), everyMs);
    timer.unref();
    child.once('exit', () => clearInterval(timer));
  });
  return () => breach;
}

interface Found {
  pids: string[];
  threads: number;
  /** What is resident; what several processes share counts in each. */
  bytes: number;
}

function judge({ pids, threads }: Found, spec: SandboxSpec): string | undefined {
  if (pids.length > maxProcessesOf(spec)) return `it had ${pids.length} processes, of ${maxProcessesOf(spec)} at most`;
  if (threads > maxThreadsOf(spec)) return `it had ${threads} threads, of ${maxThreadsOf(spec)} at most`;
  return undefined;
}

/** By the `/proc` that is mounted inside, which has no other processes. */
function count(first: number): Found | undefined {
  try {
    const folder = `/proc/${first}/root/proc`;
    // While bubblewrap is setting things up, the machine's own is still there.
    if (readlinkSync(`${folder}/1/ns/pid`) !== readlinkSync(`/proc/${first}/ns/pid`)) return undefined;
    const pids = readdirSync(folder).filter((name) => /^\d+$/.test(name));
    // Enough is known.
    if (pids.length > 4096) return { pids, threads: pids.length, bytes: 0 };
    const facts = pids.map((pid) => readStatus(`${folder}/${pid}/status`));
    return { pids, threads: sum(facts.map(({ threads }) => threads)), bytes: sum(facts.map(({ bytes }) => bytes)) };
  } catch {
    return undefined;
  }
}

function readStatus(path: string): { threads: number; bytes: number } {
  // One that has ended says nothing, and has none.
  const status = textIn(path) ?? '';
  const number = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return { threads: number('Threads'), bytes: number('VmRSS') * 1024 };
}

/** What is shared counts once, and files that are mapped not at all. */
async function measureMemory(first: number, pids: readonly string[]): Promise<number> {
  const parts = pids.map(async (pid) => {
    const text = await readFile(`/proc/${first}/root/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    return sum([...text.matchAll(/^Pss_(?:Anon|Shmem):\s*(\d+) kB/gm)].map(([, kibibytes]) => Number(kibibytes) * 1024));
  });
  return sum(await Promise.all(parts));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function toMebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}

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
