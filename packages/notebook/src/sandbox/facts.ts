import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type Expected, findMountFaults } from './mount-facts.js';

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
