import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CodeAttack, kernelAttacks } from '../support/code-attacks.js';
import { endlessAttacks, outputAttacks } from '../support/code-output-attacks.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { Program } from '../support/program.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const slow = 240_000;
/** Stands in no code that is sent, so that no traceback has it. */
const secret = 'a-secret-that-no-code-may-read';

describe('execute_code, attacked from within', () => {
  let folder: string;
  let out: string;
  let trap: Server;
  let trapped = 0;
  let program: Program;
  const lines = () => linesOf(join(folder, 'count'));
  const execute = async (args: JsonObject): Promise<string> => {
    const { result, error } = await program.callTool('execute_code', args);
    return JSON.stringify(result ?? error);
  };
  const attack = async ({ code, seconds = 20, spoils = false }: CodeAttack): Promise<string> => {
    const { port } = trap.address() as AddressInfo;
    const setup = `OUT, HUB, PORT, TRAP = ${JSON.stringify(out)}, ${program.child.pid}, ${port}, "http://127.0.0.1:${port}/"`;
    return execute({ code: `${setup}\n${code}`, timeout_seconds: seconds, ...(spoils ? { kernel: 'fresh' } : {}) });
  };
  /** Nothing of the machine was touched, and the next call works. */
  const assertWhole = async (answer: string): Promise<void> => {
    expect(answer).not.toContain('ESCAPED');
    expect(answer).not.toContain(secret);
    expect(answer.length).toBeLessThan(60_000);
    expect(existsSync(join(out, 'stolen'))).toBe(false);
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
    trap = createServer((_, response) => {
      trapped++;
      response.end(secret);
    });
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    const file = join(folder, 'mcp.json');
    const calls = { command: process.execPath, args: [fixtureServer('calls.mjs'), join(folder, 'count')], env: { KEY: secret } };
    writeFileSync(file, JSON.stringify({ mcpServers: { calls }, notebridge: { codeMode: { kernels: 3, calls: 20, memoryMb: 2048 } } }));
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

  for (const { cells, tags } of coreAndDeep([...kernelAttacks, ...outputAttacks], (_, index) => index % 2 === 0)) {
    it.each(cells)('holds: $name', { tags: [...tags, 'P-448'], timeout: slow }, async (tried) => {
      const answer = await attack(tried);
      if (tried.says !== undefined) expect(answer).toMatch(tried.says);
      await assertWhole(answer);
    });
  }

  for (const { cells, tags } of coreAndDeep(endlessAttacks, (_, index) => index % 2 === 0)) {
    it.each(cells)('ends: $name', { tags: [...tags, 'P-448'], timeout: slow }, async (tried) => {
      const answer = await attack(tried);
      if (tried.says !== undefined) expect(answer).toMatch(tried.says);
      await assertWhole(answer);
    });
  }

  it('an interrupt that comes as its code ends hits no later code', { tags: ['P-448'], timeout: slow }, async () => {
    for (const rest of [0.9, 0.96, 0.98, 0.99, 1, 1.01]) {
      await execute({ code: `import time\ntime.sleep(${rest})`, timeout_seconds: 1 });
      expect(await execute({ code: 'sum(range(300_000))' })).toContain('"result":"44999850000"');
    }
  });

  it('calls no tool after an end that the code has forged', { tags: ['P-394'], timeout: slow }, async () => {
    const code = `
import time
from generated.mcp.calls import count
await count(n="before")
import sys
frame = sys._getframe()
while not isinstance(frame.f_locals.get("self"), sys.modules["notebridge_kernel"].kernel.Kernel):
    frame = frame.f_back
kernel = frame.f_locals["self"]
kernel._post('{"type":"done","status":"ok"}')
end = time.monotonic() + 1
while time.monotonic() < end: pass
said = ""
try:
    said = count.sync(n="stolen")
except Exception as error:
    said = error.code
"its end"`;
    const answer = await execute({ code });
    expect(answer).toContain('"status":"ok"');
    expect(answer).not.toContain('its end');
    // The code goes on until it is refused.
    const audit = join(program.stateHome, 'notebridge', 'audit.jsonl');
    await vi.waitUntil(() => linesOf(audit).some((line) => line.includes('"bad_grant"')), { timeout: 45_000 });
    expect(await execute({ code: 'said' })).toContain("'denied'");
    expect(lines()).toContain('count before');
    expect(lines()).not.toContain('count stolen');
    await assertWhole(answer);
  });
});
