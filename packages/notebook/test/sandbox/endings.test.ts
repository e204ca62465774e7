// @module-tag P-190

/** Whoever starts a sandbox may be killed at any time, also while it is being set up: nothing is left. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from '@notebridge/sandbox/find-program';
import { build, stop } from 'esbuild';
import { expect, test } from 'vitest';
import { coreAndDeep } from '../../../notebridge/test/support/core-and-deep.js';
import { whyNoSandbox } from './support/sandboxed.js';

const missing = await whyNoSandbox();

for (const { cells, tags } of coreAndDeep([false, true], (programs) => programs))
  test.skipIf(missing !== undefined).each(cells)(
    'a host that is killed in any millisecond of a start leaves no process (it may start programs: %s)',
    { tags, timeout: 180_000 },
    async (programs) => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-endings-')));
      const module = join(folder, 'sandbox.mjs');
      const entry = fileURLToPath(new URL('../../../sandbox/src/bubblewrap.ts', import.meta.url));
      await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile: module, logLevel: 'warning' });
      await stop();
      const code = `
    const { createBubblewrap } = await import(${JSON.stringify(module)});
    const sandbox = createBubblewrap(${JSON.stringify(findProgram('bwrap'))});
    process.stdin.once('data', () => {
      for (let count = 0; count < 3; count++) sandbox.launch({ command: [process.execPath, '-e', 'process.stdin.resume()', ${JSON.stringify(folder)}], readable: [], folder: '/', programs: ${programs} });
      process.stdout.write('launched');
    });
    process.stdout.write('ready');`;
      for (let delayMs = 0; delayMs < 40; delayMs += 2) {
        const host = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['pipe', 'pipe', 'inherit'] });
        await new Promise((resolve) => host.stdout.once('data', resolve));
        host.stdin.write('go');
        await new Promise((resolve) => host.stdout.once('data', resolve));
        // The moment at which it is killed is what is tested.
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        host.kill('SIGKILL');
      }
      await expect.poll(() => processesOf(folder)).toEqual([]);
      rmSync(folder, { recursive: true, force: true });
    },
  );

function processesOf(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => Number(name) > 0)
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return command.includes(folder) ? [`${pid} ${command.slice(0, 80)}`] : [];
      } catch {
        return [];
      }
    });
}
