import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-start-'));
  const entry = fileURLToPath(new URL('../../../sandbox/src/start-program.ts', import.meta.url));
  await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile: join(folder, 'start.mjs') });
  await stop();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs code with few descriptors, of which only so many are left. */
function withFew(left: number, program: string): string {
  const script = `
import { closeSync, openSync } from 'node:fs';
import { startProgram } from './start.mjs';
const held = [];
try { for (;;) held.push(openSync('/dev/null', 'r')); } catch {}
for (const fd of held.splice(0, ${left})) closeSync(fd);
let said = 'started';
try { startProgram(${JSON.stringify(program)}, [], { stdio: ['pipe', 'pipe', 'pipe'] }); } catch (error) { said = error.message; }
for (const fd of held) closeSync(fd);
// The event comes before.
setImmediate(() => setImmediate(() => process.stdout.write(said)));
`;
  writeFileSync(join(folder, 'few.mjs'), script);
  const { stdout, stderr } = spawnSync('/bin/sh', ['-c', 'ulimit -n 100 && exec "$0" few.mjs', process.execPath], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout;
}

test('a program is not started where descriptors are short, and whoever wanted it goes on', ({ skip }) => {
  skip(process.platform === 'win32', 'Windows has no such limit');
  expect(withFew(3, process.execPath)).toBe(
    `too many files are open to start "${process.execPath}": close some programs, or raise the limit of open files`,
  );
});

test('a program that is not there ends nobody who does not listen', ({ skip }) => {
  skip(process.platform === 'win32', 'Windows has no such limit');
  expect(withFew(40, '/no/such/program')).toBe('started');
});
