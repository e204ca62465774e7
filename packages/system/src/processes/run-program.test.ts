// @module-tag deep

import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunProgramOptions, runProgram } from './run-program.js';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'notebridge-run-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const run = (script: string, options: Partial<RunProgramOptions> = {}) =>
  runProgram({
    command: 'sh',
    args: ['-c', script, 'sh', 'an arg'],
    cwd: folder,
    env: {},
    timeoutMs: 20_000,
    maxOutputBytes: 1000,
    ...options,
  });

/** A zombie does not live, it only waits for its parent to reap it. */
const isAlive = (pid: number): boolean => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^Z]/.test(stdout.trim());
};

describe('runProgram', () => {
  it('gives outputs and exit code, and passes arguments, folder and environment', async () => {
    expect(await run('echo "$1 $X"; pwd; cat; echo oops >&2; exit 3', { env: { X: 'x' } })).toEqual({
      stdout: `an arg x\n${folder}\n`,
      stderr: 'oops\n',
      droppedBytes: 0,
      exitCode: 3,
      signal: null,
      timedOut: false,
      startFailure: undefined,
    });
  });

  it('hands on none of our own environment but the base', async () => {
    process.env.NOTEBRIDGE_TEST_SECRET = 'hunter22';
    try {
      const { stdout } = await run('env');
      expect(stdout).toContain('PATH=');
      expect(stdout).not.toContain('hunter22');
    } finally {
      delete process.env.NOTEBRIDGE_TEST_SECRET;
    }
  });

  it('keeps the beginning of an output that is too long, whole characters only', async () => {
    const { stdout, droppedBytes, exitCode } = await run('i=0; while [ $i -lt 3000 ]; do printf é; i=$((i+1)); done', {
      maxOutputBytes: 1001,
    });
    expect(stdout).toBe('é'.repeat(500));
    expect(droppedBytes).toBe(4999);
    expect(exitCode).toBe(0);
  });

  it('ends a program that takes too long, with all that it started, and keeps what it wrote', { tags: ['P-035'] }, async () => {
    const result = await run('echo begun; (trap "" TERM; sleep 600) & echo $! > child; wait', { timeoutMs: 5000 });
    expect(result).toMatchObject({ stdout: 'begun\n', timedOut: true, exitCode: null, signal: 'SIGTERM' });
    expect(isAlive(Number(await readFile(join(folder, 'child'), 'utf8')))).toBe(false);
  });

  it('ends a program that is no longer wanted', async () => {
    const controller = new AbortController();
    const running = run('trap "" TERM; echo $$ > pid; while :; do sleep 1; done', { signal: controller.signal });
    let pid = '';
    while (!pid.endsWith('\n')) pid = await readFile(join(folder, 'pid'), 'utf8').catch(() => '');
    controller.abort();
    expect(await running).toMatchObject({ signal: 'SIGKILL', timedOut: false });
    expect(isAlive(Number(pid))).toBe(false);
    expect((await run('echo', { signal: controller.signal })).startFailure).toBe('it was cancelled before it began');
  });

  it('ends what a program leaves behind, and does not wait for its output', async () => {
    const result = await run('sleep 600 & echo $! > child; echo done');
    expect(result).toMatchObject({ stdout: 'done\n', exitCode: 0 });
    expect(isAlive(Number(await readFile(join(folder, 'child'), 'utf8')))).toBe(false);
  });

  it('says why a program could not be started', async () => {
    expect((await run('', { command: 'no-such-program' })).startFailure).toContain('there is no program "no-such-program"');
    expect((await run('', { args: ['\0'] })).startFailure).toContain('null bytes');
    expect((await run('', { args: ['x'.repeat(10_000_000)] })).startFailure).toContain('E2BIG');
    expect((await run('', { cwd: join(folder, 'none') })).startFailure).toContain('its folder is gone');
  });
});
