import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { infoFd, lifeFd, seccompFd, toBubblewrapArguments } from './bubblewrap-arguments.js';
import { inheritedDescriptors } from './descriptors.js';
import { findLinuxFaults } from './facts.js';
import { defaultMaxDataBytes, withLimits } from './limits.js';
import { createSeccompFilter } from './seccomp.js';
import { findSharedLibraries } from './shared-libraries.js';
import type { Sandbox, SandboxedProcess } from './spec.js';
import { startProgram } from './start-program.js';

const pidTimeoutMs = 1000;

/** Sandboxes of Linux: namespaces by bubblewrap, the given program, a filter of system calls and bounds. */
export function createBubblewrap(bubblewrap: string): Sandbox {
  const filter = createSeccompFilter(process.arch);
  const libraries = findSharedLibraries();
  return {
    name: 'bubblewrap',
    isTested: true,
    launch(spec) {
      if (!filter) throw new Error(`no filter of system calls for ${process.arch}`);
      const limited = withLimits([bubblewrap, ...toBubblewrapArguments(spec, libraries)], spec.maxDataBytes ?? defaultMaxDataBytes());
      const child = spawnClean(limited);
      const rules = child.stdio[seccompFd] as Duplex;
      rules.on('error', () => {});
      rules.end(filter);
      return { child, pid: readPid(child.stdio[infoFd] as Duplex) };
    },
    async findFaults({ pid }, { command, readable, network = false }) {
      // It was reported before the program began, which has returned by now.
      const known = await Promise.race([pid, setTimeout(pidTimeoutMs, undefined, { ref: false })]);
      if (known === undefined) return ['its process id is not known'];
      return findLinuxFaults(known, { visible: [...libraries, command[0], ...readable], network });
    },
  };
}

/** In a process group of its own, with our pipes, and nothing else of ours: no variable, no open file. */
function spawnClean([command, ...args]: [string, ...string[]]): SandboxedProcess['child'] {
  const ours = lifeFd + 1;
  const leaking = inheritedDescriptors().filter((fd) => fd >= ours);
  // `ignore` leaves a descriptor from 3 on as it is; a pipe takes its place.
  const stdio = Array.from({ length: Math.max(ours, ...leaking.map((fd) => fd + 1)) }, (_, fd) =>
    fd < ours || leaking.includes(fd) ? 'pipe' : 'ignore',
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
