// @module-tag P-186

/** The sandbox alone against machine code: every system call that the filter refuses is made, by number, from inside. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callsWithMode, judgedCalls, refusedCalls, refusedWithoutPrograms } from '@notebridge/sandbox/system-calls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bring, runInside, whyNoSandbox } from './support/sandboxed.js';

const python = ['/usr/bin/python3'].find((path) => existsSync(path));
const missing = (await whyNoSandbox()) ?? (python === undefined ? 'there is no /usr/bin/python3 to make system calls with' : undefined);
if (missing !== undefined) console.warn(`Skipped: ${missing}`);

const allRefused = { ...refusedCalls, ...refusedWithoutPrograms };
const withMode = Object.fromEntries(Object.entries(callsWithMode).map(([name, { numbers }]) => [name, numbers]));
const column = process.arch === 'arm64' ? 1 : 0;

function numbersOf(calls: typeof refusedCalls): { [name: string]: number } {
  const all = Object.entries(calls).map(([name, numbers]) => [name, numbers[column]] as const);
  return Object.fromEntries(all.flatMap(([name, number]) => (number === undefined ? [] : [[name, number]])));
}

describe.skipIf(missing !== undefined)('machine code in the sandbox', () => {
  let folder: string;
  let found: { [attempt: string]: string };

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-native-')));
    const program = bring('escaped.py', folder);
    const wanted = { refused: numbersOf(allRefused), judged: numbersOf(judgedCalls), x64: process.arch === 'x64' };
    const executable = realpathSync(python ?? '');
    const { stdout, stderr } = await runInside({
      command: [executable, '-I', '-S', program, JSON.stringify(wanted)],
      readable: [folder, '/usr/lib'],
      folder,
    });
    expect(stderr).toBe('');
    found = JSON.parse(stdout);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('is refused every system call of the table', () => {
    const calls = Object.entries(found).filter(([name]) => name.startsWith('call '));
    expect(calls.length).toBe(Object.keys(numbersOf(allRefused)).length);
    expect(calls.filter(([, outcome]) => outcome !== 'EPERM')).toEqual([]);
  });

  test('makes no process, by no way, and threads', () => {
    const ways = { 'clone as fork': 'EPERM', 'clone with memory': 'EPERM', 'clone as user': 'EPERM', clone3: 'ENOSYS', fork: 'EPERM' };
    expect(found).toMatchObject({ ...ways, 'unshare user': 'EPERM', spawn: 'EPERM', thread: 'did: None' });
  });

  test('is on no other numbers, and has no newer calls', () => {
    expect(found.newer).toBe('ENOSYS');
    if (process.arch === 'x64') expect(found.x32).toBe('ENOSYS');
  });

  test('opens sockets of three families only', () => {
    const opened = Object.entries(found).filter(([name, outcome]) => name.startsWith('socket ') && outcome.startsWith('did'));
    expect(opened.map(([name]) => name)).toEqual(['socket 1', 'socket 2', 'socket 10']);
  });

  test('has no memory beside what is counted', () => {
    expect(found).toMatchObject({ 'shared memory': 'EPERM', 'private memory': 'did' });
  });

  test('cannot remount, become root, reach others or the machine', () => {
    for (const name of [
      'mount rw',
      'root',
      'groups',
      'chroot',
      'node',
      'limits',
      'file',
      'memory of itself',
      'terminal',
      'log',
      'memory of the machine',
    ])
      expect(found[name], name).not.toMatch(/^did/);
    for (const [name, outcome] of Object.entries(found)) if (name.startsWith('peer ')) expect(outcome, name).toBe('EPERM');
    // Nobody is there to be killed.
    expect(found['kill all']).toBe('ESRCH');
  });

  test('the numbers are those of this system', () => {
    const header = ['/usr/include/x86_64-linux-gnu/asm/unistd_64.h', '/usr/include/asm-generic/unistd.h'][column];
    if (header === undefined || !existsSync(header)) return console.warn('Skipped: the headers of Linux are not installed');
    const text = execFileSync('cat', [header], { encoding: 'utf8' });
    for (const [name, number] of Object.entries({ ...numbersOf(allRefused), ...numbersOf(judgedCalls), ...numbersOf(withMode) })) {
      const defined = new RegExp(`__NR(?:3264)?_${name}\\s+(\\d+)`).exec(text)?.[1];
      if (defined !== undefined) expect(number, name).toBe(Number(defined));
    }
  });
});
