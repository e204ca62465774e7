import { createBubblewrap } from '@notebridge/sandbox/bubblewrap';
import { explainFailure, notInstalled, type Unavailable } from '@notebridge/sandbox/explain';
import { findProgram } from '@notebridge/sandbox/find-program';
import { maxProcessesOf } from '@notebridge/sandbox/limits';
import { probeSandbox } from '@notebridge/sandbox/probe';
import { createSandboxExec } from '@notebridge/sandbox/sandbox-exec';
import type { Sandbox, SandboxMode, SandboxSpec } from '@notebridge/sandbox/spec';
import type { LaunchedProgram } from './child-program.js';
import { KernelError } from './kernel-error.js';
import type { Layer } from './layers.js';

/** The sandbox that a kernel starts in, and what is said of it. */
export interface OpenedSandbox {
  readonly sandbox?: Sandbox;
  layerOf(spec: DescribedSpec): Layer;
}

type DescribedSpec = Pick<SandboxSpec, 'network' | 'programs' | 'mounts' | 'maxProcesses' | 'relay'>;

/** A sandbox that has worked once in this process is required from then on: code that breaks it from inside gains nothing. */
let proven: Sandbox | undefined;

/**
 * Finds a sandbox and has a program run in it. Rejects with `sandbox_unavailable` if the mode is `require` and none works; the message
 * says why, and what would help.
 */
export async function openSandbox(mode: SandboxMode): Promise<OpenedSandbox> {
  if (mode === 'off') return without('it was switched off');
  const tried = proven ?? (await tryOut());
  const isUsable = 'launch' in tried;
  if (mode === 'require' && !(isUsable && tried.isTested)) throw refusal(isUsable ? untested : tried);
  if (!isUsable) return without(tried.reason, tried.fix);
  proven = tried;
  return { sandbox: tried, layerOf: (spec) => toLayer(tried, spec) };
}

/** Starts a program in the sandbox. */
export function launchInside(sandbox: Sandbox, spec: SandboxSpec): LaunchedProgram {
  const sandboxed = sandbox.launch(spec);
  const inspect = async () => {
    const faults = await sandbox.findFaults(sandboxed, spec);
    if (faults.length > 0) throw new Error(`its sandbox is not in force: ${faults.join(', ')}`);
  };
  return { ...sandboxed, inspect };
}

/** For those who only want to know: how a kernel's layer of the operating system would stand. Never rejects. */
export async function lookAtSandbox(mode: SandboxMode): Promise<Layer> {
  return (await openSandbox(mode === 'require' ? 'auto' : mode)).layerOf({});
}

async function tryOut(): Promise<Sandbox | Unavailable> {
  const found = find();
  if ('reason' in found) return found;
  const fault = await probeSandbox(found);
  return fault === undefined ? found : explainFailure(fault);
}

function find(): Sandbox | Unavailable {
  if (process.platform === 'darwin') return createSandboxExec();
  if (process.platform !== 'linux') return { reason: `there is none for ${process.platform}`, fix: 'Run Notebridge in Linux, or in WSL.' };
  const bubblewrap = findProgram('bwrap');
  return bubblewrap === undefined ? notInstalled : createBubblewrap(bubblewrap);
}

const untested: Unavailable = {
  reason: 'that of macOS is used with "auto", but untested, so it does not count',
  fix: 'Run Notebridge in a virtual machine with Linux.',
};

function toLayer({ name, isTested }: Sandbox, spec: DescribedSpec): Layer {
  if (!isTested) return { name: 'operating system', active: false, text: `${name} is in use, but untested`, fix: untested.fix };
  const { network = false, programs = false, relay } = spec;
  const reach = network ? 'the network of this machine' : relay ? `of the network ${relay.servers.join(', ')} by a relay` : 'no network';
  const own = programs
    ? `no processes but its own, ${maxProcessesOf(spec)} at most, ${describeFiles(spec)}, bounded memory`
    : 'no other processes, no files but its own, nothing to write to, bounded memory';
  return { name: 'operating system', active: true, text: `${name}: ${reach}, ${own}` };
}

function describeFiles({ mounts = [] }: DescribedSpec): string {
  const given = mounts.map(({ path, access }) => `"${path}" to ${access === 'rw' ? 'read and write' : 'read'}`);
  return given.length === 0 ? 'no files of yours' : `of your files ${given.join(', ')}`;
}

function without(reason: string, fix?: string): OpenedSandbox {
  return { layerOf: () => ({ name: 'operating system', active: false, text: reason, ...(fix === undefined ? {} : { fix }) }) };
}

function refusal({ reason, fix }: Unavailable): KernelError {
  const without = 'Or allow code without it: "--sandbox=auto", or NOTEBRIDGE_SANDBOX=auto.';
  return new KernelError(
    'sandbox_unavailable',
    `There is no sandbox for Python, which "--sandbox=require" asks for: ${reason}. ${fix} ${without}`,
  );
}
