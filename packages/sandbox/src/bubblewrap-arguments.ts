import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { maxTemporaryBytesOf } from './limits.js';
import type { Mount, SandboxSpec } from './spec.js';
import { temporaryFolders, writtenFiles } from './system-files.js';

/** File descriptors of ours that bubblewrap is started with. */
export const seccompFd = 3;
export const infoFd = 4;
/** Ends with us; see limits.ts. */
export const lifeFd = 5;
/** Closed in there when all mounts are made; see bubblewrap.ts. */
export const mountedFd = 6;
/** The first of those that `writtenFiles` come by, one for each. */
export const firstFileFd = 7;

/** The user inside is nobody, also when we are root. */
const nobody = '65534';

/** The arguments of bubblewrap (0.8 or later). `systemFiles` are readable as well. */
export function toBubblewrapArguments(spec: SandboxSpec, systemFiles: readonly string[]): string[] {
  const { command, folder, network = false, programs = false, hidden = [], relay } = spec;
  const binds = bindsOf(spec, systemFiles);
  return [
    '--unshare-all',
    ...(network ? ['--share-net'] : []),
    // Part of --unshare-all "if possible" only.
    '--unshare-user',
    '--disable-userns',
    ...['--uid', nobody, '--gid', nobody],
    ...['--cap-drop', 'ALL'],
    '--new-session',
    '--die-with-parent',
    // It is the first process of its namespace: no other one is in there, not even one of bubblewrap's without the filter.
    '--as-pid-1',
    '--clearenv',
    ...['--hostname', 'notebridge'],
    ...(programs ? placesOfPrograms(spec) : []),
    ...binds.flatMap(({ path, access }) => [access === 'rw' ? '--bind' : '--ro-bind', path, path]),
    ...hidden.flatMap(toCover),
    ...(relay ? ['--ro-bind', relay.socket, relay.inside] : []),
    ...['--proc', '/proc'],
    // Root outside owns the host's devices and may change who may use them, also from in here: so there are none, or such as cannot
    // be changed (limits.ts). And the file systems that bubblewrap makes could be filled.
    ...['--remount-ro', '/proc', ...(programs ? ['--remount-ro', '/dev'] : []), '--remount-ro', '/'],
    ...['--chdir', folder],
    ...['--block-fd', String(mountedFd), '--seccomp', String(seccompFd), '--info-fd', String(infoFd)],
    '--',
    ...(programs ? reaper : []),
    ...command,
  ];
}

function bindsOf({ command, readable, mounts = [], hidden = [], kept = [] }: SandboxSpec, systemFiles: readonly string[]): Mount[] {
  const visible = [...systemFiles, command[0], ...readable, ...kept];
  return toBinds(visible, [...findPinned([...visible, ...hidden], mounts), ...mounts]);
}

/** The paths of the mounts below folders that may be written to, each of which keeps something from being written or seen. */
export function findBoundBelow(spec: SandboxSpec, systemFiles: readonly string[]): string[] {
  const writable = (spec.mounts ?? []).filter(({ access }) => access === 'rw');
  const bound = [...bindsOf(spec, systemFiles).map(({ path }) => path), ...(spec.hidden ?? [])];
  return bound.filter((path) => writable.some((folder) => path.startsWith(`${folder.path}/`)));
}

/**
 * Process 1 with programs: it waits for every process that its parent has left, and ends with the one that was asked for. A shell gives
 * what it does not wait for an empty stdin, so that is passed on by another number.
 */
const reaper = ['/bin/sh', '-c', 'exec 3<&0; "$@" <&3 3<&- & exec 3<&- </dev/null; wait $!', 'notebridge-init'];

function placesOfPrograms(spec: SandboxSpec): string[] {
  const size = String(maxTemporaryBytesOf(spec));
  return [
    ...['--dev', '/dev'],
    ...temporaryFolders.flatMap((path) => ['--perms', '1777', '--size', size, '--tmpfs', path]),
    ...writtenFiles.flatMap(([path], index) => ['--perms', '0444', '--ro-bind-data', String(firstFileFd + index), path]),
    ...Object.entries(spec.environment ?? {}).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

/** Something empty over it. The device without its powers cannot even be opened. */
function toCover(path: string): string[] {
  return statSync(path).isDirectory()
    ? ['--perms', '0555', '--size', '4096', '--tmpfs', path, '--remount-ro', path]
    : ['--ro-bind', '/dev/null', path];
}

/** What is above comes first, or it would cover what is below. What is below something that is only read is there already. */
function toBinds(visible: readonly string[], mounts: readonly Mount[]): Mount[] {
  const given = new Map<string, Mount>(
    [...visible.map((path) => ({ path, access: 'ro' as const })), ...mounts].map((mount) => [mount.path, mount]),
  );
  const all = [...given.values()].sort((one, other) => one.path.length - other.path.length);
  return all.filter(({ path, access }) => {
    const nearest = all.findLast((other) => path.startsWith(`${other.path}/`));
    return nearest === undefined || nearest.access !== access || access === 'rw';
  });
}

/**
 * The folders on the way from one that may be written to down to what is only read, or covered. Bound to themselves they are mount points, which nobody can
 * move aside to put something else in the place of what lies below.
 */
function findPinned(kept: readonly string[], mounts: readonly Mount[]): Mount[] {
  const writable = mounts.filter(({ access }) => access === 'rw').map(({ path }) => path);
  const isBelow = (path: string, folders: readonly string[]) => folders.some((folder) => path.startsWith(`${folder}/`));
  return kept.flatMap((path) => {
    const found: Mount[] = [];
    for (let folder = dirname(path); isBelow(folder, writable); folder = dirname(folder))
      if (!isBelow(`${folder}/`, kept)) found.push({ path: folder, access: 'rw' });
    return found;
  });
}
