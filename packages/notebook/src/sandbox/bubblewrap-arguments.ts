import type { SandboxSpec } from './spec.js';

/** File descriptors of ours that bubblewrap is started with. */
export const seccompFd = 3;
export const infoFd = 4;
/** Ends with us; see limits.ts. */
export const lifeFd = 5;

/** The user inside is nobody, also when we are root. */
const nobody = '65534';

/** The arguments of bubblewrap (0.8 or later) for a program that starts no other ones. */
export function toBubblewrapArguments(spec: SandboxSpec, systemFiles: readonly string[]): string[] {
  const { command, readable, folder, network = false } = spec;
  const visible = [...new Set([...systemFiles, command[0], ...readable])];
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
    ...visible.flatMap((path) => ['--ro-bind', path, path]),
    ...['--proc', '/proc'],
    // Root outside owns the host's devices and may change who may use them, also from in here: so there are none. And the two
    // file systems that bubblewrap makes could be filled.
    ...['--remount-ro', '/proc', '--remount-ro', '/'],
    ...['--chdir', folder],
    ...['--seccomp', String(seccompFd), '--info-fd', String(infoFd)],
    '--',
    ...command,
  ];
}
