import { totalmem } from 'node:os';

/** Python's memory ends at 4 GiB by itself; the rest is for Node, and for what JavaScript holds. */
const mostBytes = 5 * 1024 ** 3;
/** What is only reserved counts too, and Node 24 reserves half a gigabyte for code alone. */
const leastBytes = 2 * 1024 ** 3;

/** Bytes that a kernel may write to: 5 GiB, or three quarters of what this machine or container has, and no less than 2 GiB. */
export function defaultMaxDataBytes(): number {
  const constrained = process.constrainedMemory?.() ?? 0;
  const available = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.max(leastBytes, Math.min(mostBytes, Math.floor(available * 0.75)));
}

/**
 * A command line that runs another one with bounds: bytes of data, no core file, no file to write, few open files, and less of
 * the processor than others where it is short; and if memory is short, it is ended before others. Fails if a bound cannot be set.
 * If we end, also while bubblewrap is setting things up and cannot yet see that, its process group is ended. A shell does it all, since every system has one that can. Address space is not bounded: WebAssembly reserves much and uses little.
 */
export function withLimits(command: readonly [string, ...string[]], maxDataBytes: number): [string, ...string[]] {
  return ['/bin/sh', '-c', script, 'notebridge-limits', String(Math.floor(maxDataBytes / 1024)), ...command];
}

// Threads, by the names that shells have for it: those of the whole machine, since bubblewrap itself is still among the user's, and
// 256 more. In the namespace they are counted anew (Linux 5.14). Root has no such limit.
const script = `
{ echo 500 >/proc/self/oom_score_adj; } 2>/dev/null
(read -r _ <&5; kill -KILL 0) </dev/null >/dev/null 2>&1 3<&- 4<&- &
read -r _ _ _ tasks _ </proc/loadavg
threads=$((\${tasks#*/} + 256))
ulimit -u $threads 2>/dev/null || ulimit -p $threads 2>/dev/null
ulimit -c 0 && ulimit -f 0 && ulimit -n 256 && ulimit -d "$1" && shift && exec nice -n 5 "$@" 5<&-
`;
