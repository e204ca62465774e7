import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';
import { onTestFinished } from 'vitest';

export type Program = ChildProcessByStdio<Writable, Readable, null>;

/** A TypeScript file of this folder as a program that Node runs. Where it lies, it finds the packages that we use. */
export async function bundle(name: string): Promise<string> {
  const folder = await mkdtemp(fileURLToPath(new URL('../../../node_modules/.host-test-', import.meta.url)));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'program.mjs');
  const entry = fileURLToPath(new URL(name, import.meta.url));
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' });
  await stop();
  return outfile;
}

/** Starts a program; it is killed, if need be, when the test has finished. */
export function startProgram(command: string, args: readonly string[]): Program {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Calls for each line that the program prints. */
export function onLine(child: Program, listener: (line: string) => void): void {
  createInterface({ input: child.stdout }).on('line', listener);
}

export function exitOf(child: Program): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}
