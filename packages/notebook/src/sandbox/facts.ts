import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Expected {
  /** Paths that may be mounted besides `/` and `/proc`. */
  visible: readonly string[];
  network: boolean;
}

/**
 * What Linux itself reports about a process in the sandbox, by our own /proc, and what of it is wrong. Nothing that runs inside
 * takes part in this. Empty: the sandbox is active.
 */
export function findLinuxFaults(pid: number, { visible, network }: Expected): string[] {
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
      ...findMounts(mounts, visible),
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

function findMounts(mounts: string, visible: readonly string[]): string[] {
  const known = new Set(['/', '/proc', ...visible]);
  return lines(mounts).flatMap((line) => {
    const [, , , , point = '', options = ''] = line.split(' ');
    const path = point.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    if (!known.has(path) && !path.startsWith('/proc/')) return [`it sees "${path}"`];
    return options.split(',').includes('ro') ? [] : [`it may write to "${path}"`];
  });
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
