import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { originOf } from '@notebridge/system/starts/find-written';
import { type MountPoint, parseMounts } from '@notebridge/system/starts/mounts';
import { findBoundBelow } from './bubblewrap-arguments.js';
import { maxTemporaryBytesOf } from './limits.js';
import type { SandboxSpec } from './spec.js';
import { devices, temporaryFolders, terminals, writtenFiles } from './system-files.js';
import { writtenFolderOf } from './written-folders.js';

export type Expected = ReturnType<typeof toExpected>;

/** What may be mounted besides `/` and `/proc`, and how. */
export function toExpected(spec: SandboxSpec, systemFiles: readonly string[]) {
  const { command, readable, mounts = [], hidden = [], kept = [], relay, programs = false, network = false } = spec;
  const given = mounts.map(({ path }) => path);
  const made = programs ? ['/dev', terminals, ...writtenFiles.map(([path]) => path)] : [];
  return {
    /** Paths that may be read. */
    visible: [...systemFiles, command[0], ...readable, ...kept, ...(relay ? [relay.inside] : []), ...made],
    /** Folders of people, and those of them that may be written to. */
    given,
    writable: mounts.filter(({ access }) => access === 'rw').map(({ path }) => path),
    /** What keeps something below those from being written, moved or seen. */
    bound: findBoundBelow(spec, systemFiles),
    /** Folders that were given with all that is mounted below them. */
    folders: [...given, ...(programs ? [...readable, ...systemFiles] : [])],
    /** Paths that have to be covered. */
    hidden,
    /** File systems in memory, and how many bytes each of them may have. */
    temporary: programs ? temporaryFolders : [],
    maxTemporaryBytes: maxTemporaryBytesOf(spec),
    devices: programs ? devices : [],
    network,
  };
}

/**
 * What is wrong with the mounts that a process has. They were made by path, while other code may have written to the folders on the way: so this
 * is asked before a program begins. Empty: it sees what was asked for.
 */
export function findMountFaults(pid: number, expected: Expected): string[] {
  const { visible, writable, folders, hidden, bound, temporary } = expected;
  const mounts = parseMounts(readFileSync(`/proc/${pid}/mountinfo`, 'utf8'));
  const known = new Set(['/', '/proc', ...visible, ...folders, ...hidden, ...temporary, ...expected.devices]);
  // The last one at a place is the one that is seen.
  const seen = new Map(mounts.map((mount) => [mount.path, mount]));
  const isWritable = (path: string) =>
    writable.includes(path) || (!visible.includes(path) && writable.some((folder) => isBelow(folder, path)));
  const faults = mounts.flatMap((mount) => {
    const { path } = mount;
    if (!known.has(path) && !['/proc', ...folders].some((folder) => isBelow(folder, path))) return [`it sees "${path}"`];
    if (mount.isReadOnly || seen.get(path) !== mount) return [];
    if (temporary.includes(path)) return isBounded(mount, expected.maxTemporaryBytes) ? [] : [`"${path}" has no bound`];
    if (path === terminals && mount.fileSystem === 'devpts') return [];
    if (expected.devices.includes(path)) return ownsDevice(path) ? [`it owns the device "${path}"`] : [];
    return isWritable(path) ? [] : [`it may write to "${path}"`];
  });
  const missing = [...new Set([...hidden, ...writable, ...bound])].filter((path) => !seen.has(path));
  return [...faults, ...findSwapped([...seen.values()], expected), ...missing.map((path) => toFault(path, expected))];
}

function toFault(path: string, { hidden, writable, visible }: Expected): string {
  if (hidden.includes(path)) return `it sees "${path}"`;
  if (writable.includes(path)) return `it does not see "${path}"`;
  return visible.includes(path) ? `it may write to "${path}"` : `it may move "${path}"`;
}

/**
 * A folder of people, what is mounted below it, and what another kernel may write to: each has to be what the machine has at its path, not what a
 * link led to at that moment. What is covered has nothing of the machine.
 */
function findSwapped(seen: readonly MountPoint[], { given, visible, hidden }: Expected): string[] {
  const isPeoples = (path: string) => given.some((folder) => folder === path || isBelow(folder, path));
  return seen
    .filter(({ path }) => !hidden.includes(path) && (isPeoples(path) || (visible.includes(path) && writtenFolderOf(path) !== undefined)))
    .filter(({ path, device, root }) => originOf(path) !== `${device}:${root}`)
    .map(({ path }) => `"${path}" is not what its folder has there`);
}

function isBelow(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** Linux says the size in KiB. */
function isBounded({ fileSystem, options }: MountPoint, maxBytes: number): boolean {
  const [, size] = /^size=(\d+)k$/.exec(options.find((option) => option.startsWith('size=')) ?? '') ?? [];
  return fileSystem === 'tmpfs' && size !== undefined && Number(size) <= Math.ceil(maxBytes / 1024) + 4;
}

function ownsDevice(path: string): boolean {
  return statSync(path).uid === process.getuid?.();
}

/**
 * What Linux itself reports about a process in the sandbox, by our own /proc, and what of it is wrong. Nothing that runs inside
 * takes part in this. Empty: the sandbox is active.
 */
export function findLinuxFaults(pid: number, expected: Expected): string[] {
  const { network } = expected;
  try {
    const at = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
    const status = parseStatus(at('status'));
    return [
      ...findSharedNamespaces(pid, network),
      ...['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']
        .filter((name) => !/^0+$/.test(status[name] ?? ''))
        .map((name) => `it has capabilities (${name} ${status[name]})`),
      ...(status.NoNewPrivs === '1' ? [] : ['it may gain privileges']),
      ...(status.Seccomp === '2' ? [] : ['no filter of system calls is in force']),
      ...(/\t1$/.test(status.NSpid ?? '') ? [] : [`it is not the first process of its own (${status.NSpid})`]),
      ...(/^\s*0\s/.test(at('uid_map')) ? ['it is root inside'] : []),
      ...findMountFaults(pid, expected),
      ...(network ? [] : findInterfaces(at('net/dev'))),
      ...findOpenFiles(pid),
    ];
  } catch (error) {
    return [`its facts cannot be read (${error instanceof Error ? error.message : String(error)})`];
  }
}

function parseStatus(text: string): { [name: string]: string | undefined } {
  return Object.fromEntries(text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]));
}

function findSharedNamespaces(pid: number, network: boolean): string[] {
  const kinds = ['user', 'pid', 'mnt', 'ipc', 'uts', ...(network ? [] : ['net'])];
  return kinds
    .filter((kind) => readlinkSync(`/proc/${pid}/ns/${kind}`) === readlinkSync(`/proc/self/ns/${kind}`))
    .map((kind) => `it shares our ${kind} namespace`);
}

function findInterfaces(devices: string): string[] {
  const names = [...devices.matchAll(/^\s*([^\s:|]+):/gm)].map(([, name]) => name);
  return names.filter((name) => name !== 'lo').map((name) => `it has the network interface ${name}`);
}

/** What is open already needs no mount: a file must have come through one of those that it has now. */
function findOpenFiles(pid: number): string[] {
  const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'utf8');
  const own = new Set(mounts.split('\n').map((line) => line.split(' ')[0]));
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
      const mount = /mnt_id:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'))?.[1];
      return !target.startsWith('/') || own.has(mount) ? [] : [`it has "${target}" open`];
    } catch {
      // Closed meanwhile.
      return [];
    }
  });
}
