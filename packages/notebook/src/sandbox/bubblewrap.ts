import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { largestOf } from '@notebridge/kit/long-lists';
import { findBoundBelow, firstFileFd, infoFd, lifeFd, seccompFd, toBubblewrapArguments } from './bubblewrap-arguments.js';
import { createControlGroups } from './control-groups.js';
import { inheritedDescriptors } from './descriptors.js';
import { findLinuxFaults, toExpected } from './facts.js';
import { groupBoundsOf, withLimits } from './limits.js';
import { createSeccompFilter } from './seccomp.js';
import { findSharedLibraries } from './shared-libraries.js';
import type { Sandbox, SandboxedProcess, SandboxSpec } from './spec.js';
import { startProgram } from './start-program.js';
import { findSystemFiles, writtenFiles } from './system-files.js';
import { watchBounds } from './watch-bounds.js';
import { fileIdentityOf, watchMounts } from './watch-mounts.js';

const pidTimeoutMs = 1000;

/** Sandboxes of Linux: namespaces by bubblewrap, the given program, a filter of system calls and bounds. */
export function createBubblewrap(bubblewrap: string): Sandbox {
  const libraries = findSharedLibraries();
  const systemFilesOf = ({ programs = false }: SandboxSpec) => (programs ? findSystemFiles() : libraries);
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
      write(child, seccompFd, filter);
      if (programs) for (const [index, [, text]] of writtenFiles.entries()) write(child, firstFileFd + index, text);
      const pid = readPid(child.stdio[infoFd] as Duplex);
      const findLost = watchMounts(spec, findBoundBelow(spec, systemFilesOf(spec)));
      return { child, pid, gone, ...(programs ? { breach: watchBounds(child, pid, spec, { groups, findLost }) } : {}) };
    },
    async findFaults({ pid }, spec) {
      // It was reported before the program began, which has returned by now.
      const known = await Promise.race([pid, setTimeout(pidTimeoutMs, undefined, { ref: false })]);
      if (known === undefined) return ['its process id is not known'];
      return [...findLinuxFaults(known, toExpected(spec, systemFilesOf(spec))), ...findOtherFolders(known, spec)];
    },
  };
}

/** A folder may have been replaced in the moment of the start, by a link to what code was never to see. */
function findOtherFolders(pid: number, { mounts = [] }: SandboxSpec): string[] {
  return mounts
    .filter(({ path }) => fileIdentityOf(path) !== fileIdentityOf(`/proc/${pid}/root${path}`))
    .map(({ path }) => `"${path}" is another folder in it`);
}

function write(child: SandboxedProcess['child'], fd: number, data: Buffer | string): void {
  const pipe = (child.stdio as (Duplex | null)[])[fd];
  pipe?.on('error', () => {});
  pipe?.end(data);
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
  const life = (child.stdio as (Duplex | null)[])[lifeFd];
  life?.on('error', () => {});
  child.once('exit', () => life?.destroy());
  for (const fd of leaking) (child.stdio as (Duplex | null)[])[fd]?.destroy();
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
