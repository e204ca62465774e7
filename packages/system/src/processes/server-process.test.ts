import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ServerProcess } from './server-process.js';

function start(command: string, args: string[], more: { env?: Record<string, string>; cwd?: string } = {}) {
  const lines: string[] = [];
  const program = new ServerProcess({ command, args, env: {}, onStderrLine: (line) => lines.push(line), ...more });
  onTestFinished(() => program.stop());
  return { program, lines };
}

const node = (code: string, more = {}) => start(process.execPath, ['-e', code], more);

async function firstOutput({ output }: ServerProcess): Promise<string> {
  return String((await once(output, 'data'))[0]);
}

function isAlive(pid: number): boolean {
  try {
    // The state of a process that has ended, but whose parent has not looked yet.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('ServerProcess', () => {
  it('speaks over stdin and stdout, and hands on the lines of stderr', { tags: ['deep'] }, async () => {
    const { program, lines } = node('process.stdin.on("data", (d) => { console.error("got\\nit"); console.log(String(d)); })');
    program.input.write('hello');
    expect(await firstOutput(program)).toBe('hello\n');
    await program.stop();
    expect(lines).toEqual(['got', 'it']);
  });

  it('gives the program the base environment, what is asked for, and nothing else', { tags: ['P-067'] }, async () => {
    process.env.NOTEBRIDGE_TEST_SECRET = 'hidden';
    onTestFinished(() => void delete process.env.NOTEBRIDGE_TEST_SECRET);
    const { program } = node('console.log(JSON.stringify(process.env))', { env: { GIVEN: '1', HOME: '/elsewhere' } });
    const env = JSON.parse(await firstOutput(program)) as Record<string, string>;
    expect(env).toMatchObject({ GIVEN: '1', HOME: '/elsewhere', PATH: process.env.PATH });
    expect(Object.keys(env)).not.toContain('NOTEBRIDGE_TEST_SECRET');
    expect(Object.keys(env).filter((name) => name.startsWith('VITEST'))).toEqual([]);
  });

  it('gives shell characters no meaning', { tags: ['P-068'] }, async () => {
    const { program } = start(process.execPath, ['-e', 'console.log(process.argv[1])', '$(id) `id`; > x | y']);
    expect(await firstOutput(program)).toBe('$(id) `id`; > x | y\n');
  });

  it.each([
    ['an exit code', 'process.exit(3)', 'exit code 3'],
    ['a signal', 'process.kill(process.pid, "SIGKILL")', 'SIGKILL'],
  ])('says how it ended: %s', { tags: ['deep'] }, async (_, code, words) => {
    expect(await node(code).program.ended).toEqual({ words, wasStarted: true });
  });

  it('says what is missing when it cannot be started', { tags: ['deep'] }, async () => {
    const { program } = start('no-such-program', []);
    expect(await program.ended).toEqual({ words: 'there is no program "no-such-program" (ENOENT)', wasStarted: false });
    await program.stop();
    const { program: lost } = node('', { cwd: '/no/such/folder' });
    expect(await lost.ended).toEqual({ words: 'its folder "/no/such/folder" does not exist', wasStarted: false });
  });

  it('lets a program end by itself when its stdin does', { tags: ['deep'] }, async () => {
    const { program } = node('process.stdin.resume().on("end", () => process.exit(7)); console.log("up")');
    await firstOutput(program);
    await program.stop();
    expect(await program.ended).toMatchObject({ words: 'exit code 7' });
  });

  it('signals a program that goes on, then kills it', { tags: ['deep'] }, async () => {
    const { program } = node('setInterval(() => {}, 1000); process.on("SIGTERM", () => console.error("told")); console.log("up")');
    await firstOutput(program);
    await program.stop();
    expect(await program.ended).toMatchObject({ words: 'SIGKILL' });
  });

  it('ends children with it, also one that left its group and ignores signals', { tags: ['P-066'] }, async ({ skip }) => {
    skip(process.platform !== 'linux', 'only Linux lets a process that left its group be found');
    const child = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')";
    const { program } = node(`
      const { spawn } = require('node:child_process');
      const start = (detached) => new Promise((resolve) => {
        const child = spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { detached, stdio: ['ignore', 'pipe', 'ignore'] });
        child.stdout.once('data', () => resolve(child.pid));
      });
      Promise.all([start(false), start(true)]).then((pids) => console.log(JSON.stringify(pids)));
      process.stdin.resume().on('end', () => process.exit(0));
    `);
    const pids = JSON.parse(await firstOutput(program)) as number[];
    expect(pids.map(isAlive)).toEqual([true, true]);
    await Promise.all([program.stop(), program.stop()]);
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  it('ends what a program leaves behind that ends by itself', { tags: ['P-066'] }, async ({ skip }) => {
    skip(process.platform === 'win32', 'needs a POSIX shell');
    const { program } = start('sh', ['-c', 'sleep 1000 & echo $!; exit 1']);
    const pid = Number(await firstOutput(program));
    expect(await program.ended).toMatchObject({ words: 'exit code 1' });
    await program.stop();
    expect(isAlive(pid)).toBe(false);
  });
});
