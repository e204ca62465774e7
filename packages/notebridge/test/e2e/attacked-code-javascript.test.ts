import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/kit/json';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CodeAttack } from '../support/code-attacks.js';
import { endlessJavaScript, javaScriptAttacks } from '../support/javascript-attacks.js';
import { Program } from '../support/program.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const slow = 240_000;
/** Stands in no code that is sent, so that no traceback has it. */
const secret = 'a-secret-that-no-code-may-read';

describe('execute_code in JavaScript, attacked from within', () => {
  let folder: string;
  let out: string;
  let trap: Server;
  let trapped = 0;
  let program: Program;
  const execute = async (args: JsonObject): Promise<string> => {
    const { result, error } = await program.callTool('execute_code', { language: 'javascript', ...args });
    return JSON.stringify(result ?? error);
  };
  const attack = async ({ code, seconds = 20, spoils = false }: CodeAttack): Promise<string> => {
    const { port } = trap.address() as AddressInfo;
    const values = { OUT: out, HUB: program.child.pid, PORT: port, TRAP: `http://127.0.0.1:${port}/` };
    const setup = `Object.assign(globalThis, ${JSON.stringify(values)});`;
    return execute({ code: `${setup}\n${code}`, timeout_seconds: seconds, ...(spoils ? { kernel: 'fresh' } : {}) });
  };
  /** Nothing of the machine was touched, and the next call works. */
  const assertWhole = async (answer: string): Promise<void> => {
    expect(answer).not.toContain(secret);
    expect(answer.length).toBeLessThan(60_000);
    expect(existsSync(join(out, 'stolen'))).toBe(false);
    expect(linesOf(join(folder, 'count')).join('\n')).not.toContain('stolen');
    expect(trapped).toBe(0);
    expect(program.child.exitCode).toBeNull();
    expect(program.noise).toEqual([]);
    expect(program.notifications.filter(({ method }) => String(method).includes('forged'))).toEqual([]);
    expect(await execute({ code: '40 + 2' })).toContain('"result":"42"');
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-attacked-'));
    out = join(folder, 'out');
    mkdirSync(out);
    writeFileSync(join(out, 'secret.txt'), secret);
    writeFileSync(join(folder, 'count'), '');
    trap = createServer((_, response) => {
      trapped++;
      response.end(secret);
    });
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    const file = join(folder, 'mcp.json');
    const calls = { command: process.execPath, args: [fixtureServer('calls.mjs'), join(folder, 'count')], env: { KEY: secret } };
    writeFileSync(file, JSON.stringify({ mcpServers: { calls }, notebridge: { codeMode: { kernels: 5, calls: 20, memoryMb: 2048 } } }));
    const args = ['stdio', '--code-mode', '--config', file, '--notebook', 'none'];
    program = await Program.open({ args, env: { ATTACKED_SECRET: secret } });
    await execute({ code: '1' });
  }, slow);
  afterAll(async () => {
    await program.close();
    trap.closeAllConnections();
    await new Promise((resolve) => trap.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([...javaScriptAttacks, ...endlessJavaScript])('holds: $name', { tags: ['P-477'], timeout: slow }, async (tried) => {
    const answer = await attack(tried);
    if (tried.says !== undefined) expect(answer).toMatch(tried.says);
    await assertWhole(answer);
  });

  it('sees nothing of another session, of another language, or of a call that had a JavaScript of its own', {
    tags: ['P-477'],
    timeout: slow,
  }, async () => {
    const session = /"session":"([^"]+)"/.exec(await execute({ code: 'var hidden = "of one"; hidden', session: 'new' }))?.[1];
    expect(session).toBeDefined();
    const look = { code: 'typeof hidden' };
    for (const where of [{}, { session: 'new' }, { kernel: 'fresh' }])
      expect(await execute({ ...look, ...where })).toContain('\\"undefined\\"');
    expect(await execute({ code: '"hidden" in globals()', language: 'python', session })).toContain('"result":"False"');
    expect(await execute({ code: 'hidden', session })).toContain('of one');
  });

  it('calls nothing after its end, nor after it was cancelled, whatever it has left behind', {
    tags: ['P-477'],
    timeout: slow,
  }, async () => {
    const left = `import { count } from "./generated/mcp/calls.js";
globalThis.later = () => count({ n: "stolen" });
const again = async () => { for (;;) { await null; try { await later() } catch {} } };`;
    const ended = await execute({ code: `${left}\nsetTimeout(later, 20_000);\n"its end"`, timeout_seconds: 20 });
    expect(ended).toContain('its end');
    const cancelled = await execute({
      code: `${left.replace('stolen', 'slow')}\nawait new Promise((resolve) => setTimeout(resolve, 60_000)); await later();`,
      timeout_seconds: 1,
    });
    expect(cancelled).toContain('"status":"timeout"');
    expect(await execute({ code: 'await new Promise((resolve) => setTimeout(resolve, 100)); 1' })).toContain('"result":"1"');
    expect(linesOf(join(folder, 'count')).join('\n')).not.toMatch(/stolen|slow/);
  });

  it('an interrupt that comes as its code ends hits no later code', { tags: ['P-478'], timeout: slow }, async () => {
    for (const rest of [900, 960, 990, 1000, 1010]) {
      await execute({ code: `const end = Date.now() + ${rest}; while (Date.now() < end); 1`, timeout_seconds: 1 });
      expect(await execute({ code: 'let sum = 0; for (let n = 0; n < 300_000; n++) sum += n; sum' })).toContain('"result":"44999850000"');
    }
  });

  it('one that is ended from outside is not run again, and the answer says what it had called', {
    tags: ['P-477'],
    timeout: slow,
  }, async () => {
    const code = `import { count } from "./generated/mcp/calls.js";
await count({ n: "once" });
await count({ n: "answered" });
for (;;);`;
    const running = execute({ code, kernel: 'fresh', timeout_seconds: 60 });
    // The server notes a call as it begins: with the second one the first has certainly been answered.
    await vi.waitUntil(() => linesOf(join(folder, 'count')).includes('count answered'), { timeout: 90_000 });
    const pids = processesBelow(program.child.pid ?? 0, 'quickjs/quickjs-worker.js');
    expect(pids.length).toBeGreaterThan(0);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    const answer = await running;
    expect(answer).toMatch(/"status":"died"/);
    expect(answer).toMatch(/The JavaScript interpreter died[^]*not run again[^]*calls\.count: ok/);
    expect(linesOf(join(folder, 'count')).filter((line) => line.includes('once'))).toHaveLength(1);
  });
});

/** Those that a process has begun, however far down, and whose command line has the text. */
function processesBelow(ancestor: number, text: string): number[] {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  const all = lines
    .map((line) => /^\s*(\d+)\s+(\d+)\s(.*)$/.exec(line) ?? [])
    .map(([, pid, parent, args = '']) => ({ pid: Number(pid), parent: Number(parent), args }));
  const parents = new Map(all.map(({ pid, parent }) => [pid, parent]));
  const isBelow = (pid: number | undefined): boolean => pid !== undefined && pid > 1 && (pid === ancestor || isBelow(parents.get(pid)));
  return all.filter(({ pid, args }) => args.includes(text) && isBelow(pid)).map(({ pid }) => pid);
}
