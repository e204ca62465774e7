// What Linux tells of a process tree in /proc. Elsewhere every reading is undefined, and the report says so.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const hasProc = process.platform === 'linux';

/** The process and all that descend from it. */
export function treeOf(root) {
  if (!hasProc) return [root];
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? statOf(name)?.parent : undefined;
    if (parent === undefined) continue;
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(Number(name));
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** True if the process is a Node that runs that file. */
export function runsFile(pid, file) {
  return hasProc && read(`/proc/${pid}/cmdline`)?.split('\0')[1] === file;
}

/** CPU time of the tree, user and system, of all its threads, in µs. */
export function cpuUsOf(root, tree = treeOf(root)) {
  if (!hasProc) return undefined;
  return sum(tree.map((pid) => scheduledUs(pid) ?? ((statOf(pid)?.ticks ?? 0) * 1e6) / ticksPerSecond()));
}

/** The scheduler counts in ns what `stat` counts in ticks of 10 ms; not every kernel tells. */
function scheduledUs(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const ns = sum(threads.map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])));
    return ns > 0 ? ns / 1000 : undefined;
  } catch {
    return undefined;
  }
}

/** Resident memory of the tree in MB: all of it, and without the share of pages that other processes use too (PSS). */
export function memoryMbOf(root, tree = treeOf(root)) {
  if (!hasProc) return undefined;
  const pss = tree.map((pid) => kilobytes(`/proc/${pid}/smaps_rollup`, 'Pss'));
  return {
    rssMb: sum(tree.map((pid) => kilobytes(`/proc/${pid}/status`, 'VmRSS') ?? 0)) / 1024,
    pssMb: pss.includes(undefined) ? undefined : sum(pss) / 1024,
  };
}

/** The most that a process which runs a file of this name has held, in MB. Undefined for any other. */
export function peakMbOf(pid, fileName) {
  if (
    !hasProc ||
    !read(`/proc/${pid}/cmdline`)
      ?.split('\0')
      .some((arg) => arg.endsWith(`/${fileName}`))
  )
    return undefined;
  const peak = kilobytes(`/proc/${pid}/status`, 'VmHWM');
  return peak === undefined ? undefined : peak / 1024;
}

let ticks;
function ticksPerSecond() {
  try {
    ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8', timeout: 5000 })) || 100;
  } catch {
    ticks = 100;
  }
  return ticks;
}

/** Parent, and utime + stime in ticks. Undefined for a process that is gone. */
function statOf(pid) {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name of the program stands in parentheses and may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
}

function kilobytes(file, key) {
  const found = new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(read(file) ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
