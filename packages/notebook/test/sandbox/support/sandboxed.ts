import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBubblewrap } from '@notebridge/sandbox/bubblewrap';
import { findProgram } from '@notebridge/sandbox/find-program';
import type { Sandbox, SandboxedProcess, SandboxSpec } from '@notebridge/sandbox/spec';
import { lookAtSandbox } from '../../../src/kernel/open-sandbox.js';

/** Why the tests of the sandbox cannot run here, or undefined. To be printed with what is skipped. */
export async function whyNoSandbox(): Promise<string | undefined> {
  const { active, text } = await lookAtSandbox('auto');
  if (active) return undefined;
  // Else a fault of ours would be a machine without a sandbox, and no test red.
  if (worksByItself()) throw new Error(`bubblewrap works on this machine, and the sandbox does not: ${text}`);
  console.warn(`The tests of the sandbox are skipped: ${text}`);
  return text;
}

function worksByItself(): boolean {
  const bubblewrap = findProgram('bwrap');
  const args = ['--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true'];
  return bubblewrap !== undefined && spawnSync(bubblewrap, args, { stdio: 'ignore' }).status === 0;
}

export function sandboxOfLinux(): Sandbox {
  const bubblewrap = findProgram('bwrap');
  if (bubblewrap === undefined) throw new Error('There is no bwrap');
  return createBubblewrap(bubblewrap);
}

/** Brings a program of this folder to a place of its own, which the sandbox may then show. */
export function bring(name: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const target = join(folder, name);
  copyFileSync(fileURLToPath(new URL(name, import.meta.url)), target);
  return target;
}

export interface Ending {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs to the end, with the output there was. */
export async function runInside(
  spec: SandboxSpec,
  { atStart, onLaunch }: { atStart?: (pid: number | undefined) => void; onLaunch?: (launched: SandboxedProcess) => void } = {},
): Promise<Ending> {
  const launched = sandboxOfLinux().launch(spec);
  onLaunch?.(launched);
  const { child, pid } = launched;
  const ending: Ending = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    ending.stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    ending.stderr += chunk;
  });
  void pid.then(atStart);
  await new Promise<void>((resolve) =>
    child.once('close', (code) => {
      ending.code = code;
      resolve();
    }),
  );
  await launched.gone;
  return ending;
}
