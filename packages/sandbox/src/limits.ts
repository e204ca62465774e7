import { totalmem } from 'node:os';
import type { GroupBounds } from './control-groups.js';
import type { SandboxSpec } from './spec.js';
import { devices } from './system-files.js';

/** Python's memory ends at 4 GiB by itself; the rest is for Node, and for what JavaScript holds. */
const mostBytes = 5 * 1024 ** 3;
/** What is only reserved counts too, and Node 24 reserves half a gigabyte for code alone. */
const leastBytes = 2 * 1024 ** 3;

/**
 * Bytes that a kernel may write to: 5 GiB, or three quarters of what this machine or container has, and no less than 2 GiB. With
 * `programs` three quarters, however much that is.
 */
export function maxDataBytesOf({ maxDataBytes, programs = false }: Pick<SandboxSpec, 'maxDataBytes' | 'programs'>): number {
  if (maxDataBytes !== undefined) return maxDataBytes;
  return Math.max(leastBytes, Math.min(programs ? Number.POSITIVE_INFINITY : mostBytes, Math.floor(availableBytes() * 0.75)));
}

/** Of this machine or container. */
function availableBytes(): number {
  const constrained = process.constrainedMemory?.() ?? 0;
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

export function maxTemporaryBytesOf(spec: SandboxSpec): number {
  return spec.maxTemporaryBytes ?? Math.min(1024 ** 3, Math.floor(maxDataBytesOf(spec) / 8));
}

/** For Linux's own books, which bubblewrap, files in memory and buffers of sockets stand in as well. */
const besides = { bytes: 64 * 1024 ** 2, tasks: 64 };

/**
 * What Linux is told to bound all processes by, together, where it can. A little more than what ends a kernel with a reason, or makes an
 * allocation fail; with three file systems in memory still no more than the machine has.
 */
export function groupBoundsOf(spec: SandboxSpec): GroupBounds {
  const data = maxDataBytesOf(spec);
  const wanted = data + 3 * maxTemporaryBytesOf(spec) + besides.bytes;
  return {
    tasks: maxThreadsOf(spec) + besides.tasks,
    bytes: Math.min(wanted, Math.max(data + besides.bytes, Math.floor(availableBytes() * 0.95))),
  };
}

export function maxProcessesOf({ maxProcesses = 512 }: Pick<SandboxSpec, 'maxProcesses'>): number {
  return maxProcesses;
}

/**
 * A command line that runs another one with bounds: bytes of data, no core file, no file to write, few open files, and less of
 * the processor than others where it is short; and if memory is short, it is ended before others. Fails if a bound cannot be set. `doors` are
 * those of control-groups.ts: it is in there before anything else begins, all but what ends it with us.
 * If we end, also while bubblewrap is setting things up and cannot yet see that, its process group is ended. A shell does it all, since every system has one that can. Address space is not bounded: WebAssembly reserves much and uses little.
 */
export function withLimits(
  command: readonly [string, ...string[]],
  spec: SandboxSpec,
  doors: readonly string[] = [],
): [string, ...string[]] {
  const limited = [String(Math.floor(maxDataBytesOf(spec) / 1024)), ...command] as const;
  if (!spec.programs)
    return ['/bin/sh', '-c', toScript({ threads: 256, files: 256, more: 'ulimit -f 0' }), 'notebridge-limits', ...limited];
  const isRoot = process.getuid?.() === 0;
  const script = toScript({ threads: maxThreadsOf(spec), files: 4096, more: isRoot ? protectDevices : ':', doors });
  return ['/bin/sh', '-c', ...(isRoot ? ownMounts : []), script, 'notebridge-limits', ...limited];
}

/** Of all processes: a numerical library begins one for each processor. */
export function maxThreadsOf(spec: Pick<SandboxSpec, 'maxProcesses'>): number {
  return 8 * maxProcessesOf(spec);
}

/**
 * Root owns the devices, and is their owner inside too: in mounts of its own they are made such that nobody changes them, before
 * bubblewrap passes them on. Where root may not mount, as in many a container, it may in a user namespace.
 */
const ownMounts = [
  'unshare --mount true 2>/dev/null && exec unshare --mount --propagation private "$@"; exec unshare --user --map-root-user --mount --propagation private "$@"',
  ...['notebridge-mounts', '/bin/sh', '-c'],
];
const protectDevices = `for device in ${devices.join(' ')}; do mount --bind $device $device && mount -o remount,bind,ro $device || exit 1; done; :`;

// Threads, by the names that shells have for it: those of the whole machine, since bubblewrap itself is still among the user's, and
// some more. In the namespace they are counted anew (Linux 5.14). It does not bind root, also under the other number that it has inside.
const toScript = ({ threads, files, more, doors = [] }: { threads: number; files: number; more: string; doors?: readonly string[] }) => `
{ echo 500 >/proc/self/oom_score_adj; } 2>/dev/null
(read -r _ <&5; kill -KILL 0) </dev/null >/dev/null 2>&1 3<&- 4<&- 6<&- &
${doors.map((door) => `echo 0 >'${door.replaceAll("'", "'\\''")}' || exit 1`).join('\n')}
read -r _ _ _ tasks _ </proc/loadavg
threads=$((\${tasks#*/} + ${threads}))
ulimit -u $threads 2>/dev/null || ulimit -p $threads 2>/dev/null
${more} || exit 1
[ "$(ulimit -n)" != unlimited ] && [ "$(ulimit -n)" -lt ${files} ] || ulimit -n ${files} || exit 1
ulimit -c 0 && ulimit -d "$1" && shift && exec nice -n 5 "$@" 5<&-
`;
