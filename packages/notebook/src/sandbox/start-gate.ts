import type { Duplex } from 'node:stream';
import { messageOf } from '@notebridge/kit/message-of';
import { textIn } from '@notebridge/kit/seen-files';
import type { SandboxedProcess } from './spec.js';
import { killProcess } from './start-program.js';

export interface StartGate {
  /** Ends in the sandbox once all of its mounts are made, or with it. */
  readonly mounted: Duplex;
  /** What is wrong with them, in the sandbox whose first process this is. */
  findFaults(first: number): string[];
  /** The program waits for it. */
  open(): void;
}

/**
 * Has a sandbox run its program only after its mounts were checked: they are made by path, and whoever may write to a folder on the way could put a
 * link there in that moment, with a program of its own waiting inside for what it leads to. A fault ends it. Returns what tells the fault.
 */
export function openWhenChecked(
  child: SandboxedProcess['child'],
  pid: Promise<number | undefined>,
  { mounted, findFaults, open }: StartGate,
): () => string | undefined {
  let reason: string | undefined;
  const check = async () => {
    const first = await pid;
    // It says itself why.
    if (first === undefined || hasEnded(first)) return;
    const faults = tryToFind(() => findFaults(first));
    if (faults.length === 0) return open();
    reason = `its sandbox is not in force: ${faults.join(', ')}`;
    killProcess(first);
    child.kill('SIGKILL');
  };
  mounted.on('error', () => {});
  mounted.once('close', () => void check());
  mounted.resume();
  mounted.end();
  return () => reason;
}

function tryToFind(findFaults: () => string[]): string[] {
  try {
    return findFaults();
  } catch (error) {
    return [`its mounts cannot be checked (${messageOf(error)})`];
  }
}

/** Also one that nobody has waited for yet. */
function hasEnded(pid: number): boolean {
  const status = textIn(`/proc/${pid}/status`);
  return status === undefined || /^State:\s*[ZX]/m.test(status);
}
