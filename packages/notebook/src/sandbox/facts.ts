import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { originOf } from '@notebridge/kit/find-written';
import { maxTemporaryBytesOf } from './limits.js';
import type { SandboxSpec } from './spec.js';
import { devices, temporaryFolders, terminals, writtenFiles } from './system-files.js';
import { writtenFolderOf } from './written-folders.js';

/** What may be mounted besides `/` and `/proc`, and how. */
export interface Expected {
  /** Paths that may be read. */
  visible: readonly string[];
  /** Folders of the host that may be written to. */
  writable: readonly string[];
  /** Folders that were given with all that is mounted below them. */
  folders: readonly string[];
  /** Paths that have to be covered. */
  hidden: readonly string[];
  /** File systems in memory, and how many bytes each of them may have. */
  temporary: readonly string[];
  maxTemporaryBytes: number;
  devices: readonly string[];
  network: boolean;
}

export function toExpected(spec: SandboxSpec, systemFiles: readonly string[]): Expected {
  const { command, readable, mounts = [], hidden = [], kept = [], relay, programs = false, network = false } = spec;
  return {
    visible: [
      ...systemFiles,
      command[0],
      ...readable,
      ...kept,
      ...(relay ? [relay.inside] : []),
      ...(programs ? ['/dev', terminals, ...writtenFiles.map(([path]) => path)] : []),
    ],
    writable: mounts.filter(({ access }) => access === 'rw').map(({ path }) => path),
    folders: [...mounts.map(({ path }) => path), ...(programs ? [...readable, ...systemFiles] : [])],
    hidden,
    temporary: programs ? temporaryFolders : [],
    maxTemporaryBytes: maxTemporaryBytesOf(spec),
    devices: programs ? devices : [],
    network,
  };
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
    const mounts = at('mountinfo');
    return [
      ...findSharedNamespaces(pid, network),
      ...['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']
        .filter((name) => !/^0+$/.test(status[name] ?? ''))
        .map((name) => `it has capabilities (${name} ${status[name]})`),
      ...(status.NoNewPrivs === '1' ? [] : ['it may gain privileges']),
      ...(status.Seccomp === '2' ? [] : ['no filter of system calls is in force']),
      ...(/\t1$/.test(status.NSpid ?? '') ? [] : [`it is not the first process of its own (${status.NSpid})`]),
      ...(/^\s*0\s/.test(at('uid_map')) ? ['it is root inside'] : []),
      ...findMounts(parseMounts(mounts), expected),
      ...(network ? [] : findInterfaces(at('net/dev'))),
      ...findOpenFiles(pid, mounts),
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

export interface MountPoint {
  path: string;
  /** Which file system, and which folder of it. */
  device: string;
  root: string;
  isReadOnly: boolean;
  /** Of the file system itself, as in `size=100k`. */
  fileSystem: string;
  options: string[];
}

export function parseMounts(text: string): MountPoint[] {
  return lines(text).map((line) => {
    const [front = '', back = ''] = line.split(' - ');
    const [, , device = '', root = '', point = '', mount = ''] = front.split(' ');
    const [fileSystem = '', , options = ''] = back.split(' ');
    const plain = (text: string) => text.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    return {
      path: plain(point),
      root: plain(root),
      device,
      isReadOnly: mount.split(',').includes('ro'),
      fileSystem,
      options: options.split(','),
    };
  });
}

function findMounts(mounts: readonly MountPoint[], expected: Expected): string[] {
  const { visible, writable, folders, hidden, temporary } = expected;
  const known = new Set(['/', '/proc', ...visible, ...folders, ...hidden, ...temporary, ...expected.devices]);
  // The last one at a place is the one that is seen.
  const seen = new Map(mounts.map((mount) => [mount.path, mount]));
  const faults = mounts.flatMap((mount) => {
    const { path } = mount;
    if (!known.has(path) && !['/proc', ...folders].some((folder) => isBelow(folder, path))) return [`it sees "${path}"`];
    if (mount.isReadOnly || seen.get(path) !== mount) return [];
    if (temporary.includes(path)) return isBounded(mount, expected.maxTemporaryBytes) ? [] : [`"${path}" has no bound`];
    if (path === terminals && mount.fileSystem === 'devpts') return [];
    if (expected.devices.includes(path)) return ownsDevice(path) ? [`it owns the device "${path}"`] : [];
    return writable.some((folder) => folder === path || isBelow(folder, path)) ? [] : [`it may write to "${path}"`];
  });
  const missing = [...hidden, ...writable].filter((path) => !seen.has(path));
  return [
    ...faults,
    ...findSwapped(seen, expected),
    ...missing.map((path) => (hidden.includes(path) ? `it sees "${path}"` : `it does not see "${path}"`)),
  ];
}

/**
 * What is kept below a folder that others can write to as well, another kernel perhaps: it was bound by its path, and has to be what the folder has
 * there, not what a link led to at that moment.
 */
function findSwapped(seen: ReadonlyMap<string, MountPoint>, { visible, writable }: Expected): string[] {
  // The same of what another kernel may write to, where this one may not.
  const others = visible.filter((path) => seen.has(path) && writtenFolderOf(path) !== undefined);
  const swapped = others
    .filter((path) => originOf(path) !== toOrigin(seen.get(path)))
    .map((path) => `"${path}" is not what its folder has there`);
  return [...swapped, ...findSwappedBelow(seen, { visible, writable })];
}

function toOrigin(mount: MountPoint | undefined): string {
  return `${mount?.device}:${mount?.root}`;
}

function findSwappedBelow(seen: ReadonlyMap<string, MountPoint>, { visible, writable }: Pick<Expected, 'visible' | 'writable'>): string[] {
  return writable.flatMap((folder) => {
    const mount = seen.get(folder);
    if (!mount) return [];
    const base = mount.root === '/' ? '' : mount.root;
    const below = [...seen.values()].filter(({ path }) => isBelow(folder, path) && visible.includes(path));
    const swapped = below.filter(({ path, device, root }) => device !== mount.device || root !== base + path.slice(folder.length));
    return swapped.map(({ path }) => `"${path}" is not what the folder has there`);
  });
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

function findInterfaces(devices: string): string[] {
  const names = [...devices.matchAll(/^\s*([^\s:|]+):/gm)].map(([, name]) => name);
  return names.filter((name) => name !== 'lo').map((name) => `it has the network interface ${name}`);
}

/** What is open already needs no mount: a file must have come through one of those that it has now. */
function findOpenFiles(pid: number, mounts: string): string[] {
  const own = new Set(lines(mounts).map((line) => line.split(' ')[0]));
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

function lines(text: string): string[] {
  return text.split('\n').filter(Boolean);
}
