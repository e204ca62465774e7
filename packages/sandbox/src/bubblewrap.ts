import { readdirSync, readFileSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { largestOf } from '@notebridge/protocol/util/long-lists';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { textIn } from '@notebridge/system/starts/seen-files';
import { findBoundBelow, firstFileFd, infoFd, lifeFd, mountedFd, seccompFd, toBubblewrapArguments } from './bubblewrap-arguments.js';
import { createControlGroups } from './control-groups.js';
import { groupBoundsOf, withLimits } from './limits.js';
import { findLinuxFaults, findMountFaults, toExpected } from './mount-facts.js';
import { createSeccompFilter } from './seccomp.js';
import type { Sandbox, SandboxedProcess, SandboxSpec } from './spec.js';
import { killProcess, startProgram } from './start-program.js';
import { findSharedLibraries, findSystemFiles, writtenFiles } from './system-files.js';
import { watchBounds, watchMounts } from './watch-bounds.js';

const pidTimeoutMs = 1000;

/** Sandboxes of Linux: namespaces by bubblewrap, the given program, a filter of system calls and bounds. */
export function createBubblewrap(bubblewrap: string): Sandbox {
  const libraries = findSharedLibraries();
  const systemFilesOf = ({ programs = false }: SandboxSpec) => (programs ? findSystemFiles() : libraries);
  const expectedOf = (spec: SandboxSpec) => toExpected(spec, systemFilesOf(spec));
  return {
    name: 'bubblewrap',
    isTested: true,
    launch(spec) {
      const { programs = false } = spec;
      const filter = createSeccompFilter(process.arch, { programs });
      if (!filter) throw new Error(`no filter of system calls for ${process.arch}`);
      const args = toBubblewrapArguments(spec, systemFilesOf(spec));
      const groups = programs ? createControlGroups(groupBoundsOf(spec)) : undefined;
      const limited = withLimits([bubblewrap, ...args], spec, groups?.doors);
      const child = spawnClean(limited, programs ? firstFileFd + writtenFiles.length : firstFileFd);
      const gone = groups && new Promise((resolve) => child.once('close', resolve)).then(groups.remove);
      if (programs) for (const [index, [, text]] of writtenFiles.entries()) write(child, firstFileFd + index, text);
      const pid = readPid(pipeOf(child, infoFd));
      const findFault = openWhenChecked(child, pid, {
        findFaults: (first) => findMountFaults(first, expectedOf(spec)),
        // The last that bubblewrap reads before it becomes the program.
        open: () => write(child, seccompFd, filter),
      });
      const findLost = watchMounts(spec, findBoundBelow(spec, systemFilesOf(spec)));
      const findBreach = programs ? watchBounds(child, pid, spec, { groups, findLost }) : () => undefined;
      return { child, pid, gone, breach: () => findFault() ?? findBreach() };
    },
    async findFaults({ pid }, spec) {
      // It was reported before the program began, which has returned by now.
      const known = await Promise.race([pid, setTimeout(pidTimeoutMs, undefined, { ref: false })]);
      if (known === undefined) return ['its process id is not known'];
      return findLinuxFaults(known, expectedOf(spec));
    },
  };
}

function write(child: SandboxedProcess['child'], fd: number, data: Buffer | string): void {
  const pipe = pipeOf(child, fd);
  pipe.on('error', () => {});
  pipe.end(data);
}

function pipeOf(child: SandboxedProcess['child'], fd: number): Duplex {
  return (child.stdio as unknown as Duplex[])[fd] as Duplex;
}

/** In a process group of its own, with our pipes, and nothing else of ours: no variable, no open file. */
function spawnClean([command, ...args]: [string, ...string[]], ours: number): SandboxedProcess['child'] {
  const leaking = inheritedDescriptors().filter((fd) => fd >= ours);
  // `ignore` leaves a descriptor from 3 on as it is; a pipe takes its place.
  const stdio = Array.from(
    {
      length: largestOf(
        leaking.map((fd) => fd + 1),
        ours,
      ),
    },
    (_, fd) => (fd < ours || leaking.includes(fd) ? 'pipe' : 'ignore'),
  );
  const child = startProgram(command, args, { env: {}, cwd: '/', stdio, detached: true }) as SandboxedProcess['child'];
  const life = pipeOf(child, lifeFd);
  life.on('error', () => {});
  child.once('exit', () => life.destroy());
  for (const fd of leaking) pipeOf(child, fd).destroy();
  return child;
}

/** It is read to the end: bubblewrap, which writes more than this, would die of a closed pipe. */
function readPid(info: Duplex): Promise<number | undefined> {
  return new Promise((resolve) => {
    let text = '';
    info.setEncoding('utf8');
    info.on('data', (chunk: string) => {
      text += chunk;
      const found = /"child-pid":\s*(\d+)/.exec(text);
      if (found) resolve(Number(found[1]));
    });
    info.on('error', () => {});
    info.on('close', () => resolve(undefined));
  });
}

/** Files that our parent process left open for our children. Through one of a folder, its files could be reached. */
function inheritedDescriptors(): number[] {
  const closesOnExec = 0o2000000;
  return readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((fd) => fd > 2 && !(flagsOf(fd) & closesOnExec));
}

function flagsOf(fd: number): number {
  try {
    const [, flags = '0'] = /flags:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return Number.parseInt(flags, 8);
  } catch {
    // The one that the folder was read with is gone again.
    return -1;
  }
}

/**
 * Has a sandbox run its program only after its mounts were checked: they are made by path, and whoever may write to a folder on the way could put a
 * link there in that moment, with a program of its own waiting inside for what it leads to. A fault ends it. Returns what tells the fault.
 */
function openWhenChecked(
  child: SandboxedProcess['child'],
  pid: Promise<number | undefined>,
  /** `findFaults`: what is wrong with the mounts, in the sandbox whose first process this is. `open`: the program waits for it. */
  { findFaults, open }: { findFaults: (first: number) => string[]; open: () => void },
): () => string | undefined {
  // Ends in the sandbox once all of its mounts are made, or with it.
  const mounted = pipeOf(child, mountedFd);
  let reason: string | undefined;
  const check = async () => {
    const first = await pid;
    // It says itself why.
    if (first === undefined || hasEnded(first)) return;
    const faults = tryToFind(() => findFaults(first));
    if (faults.length === 0) return open();
    reason = `its sandbox is not in force: ${faults.join(', ')}`;
    killProcess(first);
    child.kill('SIGKILL');
  };
  mounted.on('error', () => {});
  mounted.once('close', () => void check());
  mounted.resume();
  mounted.end();
  return () => reason;
}

function tryToFind(findFaults: () => string[]): string[] {
  try {
    return findFaults();
  } catch (error) {
    return [`its mounts cannot be checked (${messageOf(error)})`];
  }
}

/** Also one that nobody has waited for yet. */
function hasEnded(pid: number): boolean {
  const status = textIn(`/proc/${pid}/status`);
  return status === undefined || /^State:\s*[ZX]/m.test(status);
}
