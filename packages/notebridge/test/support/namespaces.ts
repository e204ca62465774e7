import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A machine of its own, as far as the network goes. */
export interface Side {
  /** Where the other one finds it. */
  address: string;
  /** What a command that is to run there begins with; nothing where there are no namespaces. */
  launch: readonly string[];
}

/** Two places for programs, joined by one wire. */
export interface TwoSides extends AsyncDisposable {
  hub: Side;
  jupyter: Side;
  /** False: both are this machine's loopback, and nothing keeps their files and processes apart. */
  isolated: boolean;
  /** Why they are not isolated. */
  why: string | undefined;
}

/** Inside of the two namespaces alone: it cannot meet an address of the machine. */
const addresses = { hub: '10.77.0.1', jupyter: '10.77.0.2' };

/**
 * Two network namespaces with a veth pair between them and no way elsewhere, as two containers in a network without egress. Needs root
 * on Linux; elsewhere both sides are loopback, and `why` says what was missing.
 */
export async function openTwoSides(): Promise<TwoSides> {
  const why = await whyNoNamespaces();
  const loopback: Side = { address: '127.0.0.1', launch: [] };
  if (why !== undefined) return { hub: loopback, jupyter: loopback, isolated: false, why, [Symbol.asyncDispose]: async () => {} };
  await removeLeftovers();
  const names = { hub: `nb-hub-${process.pid}`, jupyter: `nb-jupyter-${process.pid}` };
  const close = async (): Promise<void> => {
    // The wire goes with them.
    for (const name of Object.values(names)) await removeNamespace(name);
  };
  try {
    for (const name of Object.values(names)) await ip('netns', 'add', name);
    await ip('link', 'add', 'eth0', 'netns', names.hub, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', names.jupyter);
    await Promise.all([furnish(names.hub, addresses.hub), furnish(names.jupyter, addresses.jupyter)]);
  } catch (error) {
    await close();
    throw error;
  }
  const side = (name: string, address: string): Side => ({ address, launch: ['ip', 'netns', 'exec', name] });
  return {
    hub: side(names.hub, addresses.hub),
    jupyter: side(names.jupyter, addresses.jupyter),
    isolated: true,
    why: undefined,
    [Symbol.asyncDispose]: close,
  };
}

/** Undefined if namespaces can be had here; tried, since a container may forbid them to root. */
export async function whyNoNamespaces(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'network namespaces are Linux only';
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  if (!(await hasTools()) && existsSync('/etc/debian_version')) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update'], { env, timeout: 300_000 }).catch(() => {});
    await run('apt-get', ['install', '-y', 'iproute2', 'util-linux'], { env, timeout: 300_000 }).catch(() => {});
  }
  if (!(await hasTools())) return 'the commands ip (iproute2) and unshare (util-linux) are needed';
  const name = `nb-try-${process.pid}`;
  try {
    await ip('netns', 'add', name);
    await run('ip', ['netns', 'exec', name, 'unshare', '--mount', '--pid', '--fork', '--mount-proc', 'true']);
    return undefined;
  } catch (error) {
    return `this machine does not allow namespaces (${String((error as { stderr?: string }).stderr ?? error).trim()})`;
  } finally {
    await removeNamespace(name);
  }
}

async function hasTools(): Promise<boolean> {
  const asked = [run('ip', ['-V']), run('unshare', ['--version'])];
  return Promise.all(asked).then(
    () => true,
    () => false,
  );
}

async function furnish(name: string, address: string): Promise<void> {
  await ip('-n', name, 'addr', 'add', `${address}/30`, 'dev', 'eth0');
  for (const device of ['lo', 'eth0']) await ip('-n', name, 'link', 'set', device, 'up');
}

/** Those of test processes that were killed, with what still runs in them. */
export async function removeLeftovers(): Promise<void> {
  const { stdout } = await ip('netns', 'list');
  for (const [name, pid] of stdout.matchAll(/^nb-[a-z0-9]+-(\d+)/gm)) if (!existsSync(`/proc/${pid}`)) await removeNamespace(name);
}

/** With what runs in it: nobody but tests puts anything into a namespace of that name. */
export async function removeNamespace(name: string): Promise<void> {
  const { stdout } = await ip('netns', 'pids', name).catch(() => ({ stdout: '' }));
  for (const pid of stdout.split('\n').filter(Boolean)) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It ended in this moment.
    }
  }
  await ip('netns', 'delete', name).catch(() => {});
}

export function ip(...args: string[]): Promise<{ stdout: string }> {
  return run('ip', args, { timeout: 20_000 });
}
