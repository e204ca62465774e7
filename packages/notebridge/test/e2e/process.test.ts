import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHome, Program, programFile, runProgram } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';
import { soonerThanNeverMs } from '../support/sooner-than-never.js';

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } },
};

/** Close codes that say goodbye; 1006 would be a connection that was cut. */
const farewells = [1000, 1001];

describe('standard input', () => {
  it('an input that ends lets every answer out, and ends the program with 0', { tags: ['P-002'] }, async () => {
    const requests = [initialize, { jsonrpc: '2.0', method: 'notifications/initialized' }, ...pings(2, 500), open(501)];
    const input = requests.map((message) => `${JSON.stringify(message)}\n`).join('');
    const { ending, stdout, stderr } = await runProgram([], { input });
    expect({ ending, stderr }).toEqual({ ending: 0, stderr: '' });
    expect(idsIn(stdout).sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 501 }, (_, index) => index + 1));
  });

  it('an optional part of a package is not loaded from where NODE_PATH, or the home folder, leads', { tags: ['P-709'] }, async () => {
    const home = mkdtempSync(join(tmpdir(), 'notebridge-node-path-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const mark = join(home, 'mark');
    const places = ['named', '.node_modules'].flatMap((folder) => ['bufferutil', 'utf-8-validate'].map((name) => join(home, folder, name)));
    for (const place of places) {
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, 'index.js'), `require('node:fs').writeFileSync(${JSON.stringify(mark)}, '')`);
    }
    const look = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'get_cells', arguments: {} } };
    const input = [initialize, { jsonrpc: '2.0', method: 'notifications/initialized' }, look].map(
      (message) => `${JSON.stringify(message)}\n`,
    );
    const env = { HOME: home, NODE_PATH: join(home, 'named') };
    const { ending, stdout } = await runProgram(['stdio', '--notebook', 'local', '--standalone'], { input: input.join(''), env });
    expect({ ending, ids: idsIn(stdout), isLoaded: existsSync(mark) }).toEqual({ ending: 0, ids: [1, 2], isLoaded: false });
  });

  it('may lack the last line break, and may be empty', { tags: ['deep'] }, async () => {
    const { ending, stdout } = await runProgram([], { input: JSON.stringify(initialize) });
    expect({ ending, ids: idsIn(stdout) }).toEqual({ ending: 0, ids: [1] });
    const { stderr, ...silent } = await runProgram([]);
    expect(silent).toEqual({ ending: 0, stdout: '' });
    expect(stderr).toMatch(/^notebridge: Standard input ended before an agent said anything, .* start it in a terminal\.\n$/);
  });

  it('an input that ends with a call in flight ends the call in the page, and the program', { tags: ['deep'] }, async () => {
    const { program, page, port } = await openWithCallInFlight();
    program.child.stdin.end();
    expect(await program.ended).toBe(0);
    expect((await page.message('notifications/cancelled')).params).toMatchObject({ requestId: (await page.message('tools/call')).id });
    expect(farewells).toContain(await page.closed);
    await expectFree(port);
  });
});

describe('standard output', () => {
  it('carries protocol only, whatever comes in; what cannot be used is answered by name', { tags: ['P-001', 'P-058'] }, async () => {
    const garbage: [string, unknown, number | string | null][] = [
      ['{', -32700, null],
      ['GET / HTTP/1.1', -32700, null],
      ['{"jsonrpc":"2.0","id":5,"method":"ping"', -32700, null],
      ['\u0000\uFFFD', -32700, null],
      ['{"a":01}', -32700, null],
      ['1', -32600, null],
      ['"ping"', -32600, null],
      ['null', -32600, null],
      ['{}', -32600, null],
      ['[]', -32600, null],
      ['{"jsonrpc":"2.0","id":5}', -32600, 5],
      ['{"jsonrpc":"2.0","id":"six","method":6}', -32600, 'six'],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
      ['{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, null],
      ['{"jsonrpc":"2.0","id":{"valueOf":1,"toString":2},"method":"ping"}', -32600, null],
      ['{"jsonrpc":"2.0","id":7,"method":"ping","params":"text"}', -32600, 7],
      ['{"jsonrpc":"2.0","id":8,"method":"ping","params":false}', -32600, 8],
    ];
    const input = garbage.map(([line]) => `${line}\n`).join('');
    const { ending, stdout } = await runProgram([], { input });
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject);
    expect(answers.map(({ error, id }) => [(error as JsonObject).code, id])).toEqual(garbage.map(([, code, id]) => [code, id]));
    expect(ending).toBe(0);
  });

  it('is not written to for garbage that asks nothing, and the program goes on', { tags: ['deep'] }, async () => {
    await using program = await Program.open();
    await using page = await RawPage.serve(await program.address());
    const hostile = '{"valueOf":1,"toString":2}';
    program.child.stdin.write(Buffer.from([0x0a, 0x20, 0x0d, 0x0a]));
    for (const line of [
      '{"jsonrpc":"2.0","id":99,"result":{}}',
      '{"id":null,"result":{}}',
      `{"id":${hostile},"result":{}}`,
      `{"id":3,"error":${hostile}}`,
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${hostile},"reason":${hostile}}}`,
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${hostile}}}`,
      `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":${hostile}}}`,
    ]) {
      program.write(line);
      page.send(line);
    }
    page.send('not json');
    page.send('[]');
    page.socket.send(Buffer.from([0xff, 0x00]));
    program.write(`{"jsonrpc":"2.0","id":"named","method":"tools/call","params":{"name":"get_cells","arguments":${hostile}}}`);
    const call = await page.message('tools/call');
    page.send(`{"jsonrpc":"2.0","id":${String(call.id)},"result":{"content":${hostile}}}`);
    expect(await program.answerTo('named')).toMatchObject({ result: { content: { valueOf: 1 } } });
    program.write(`{"jsonrpc":"2.0","id":"unnamed","method":"tools/call","params":{"name":${hostile},"arguments":{}}}`);
    expect(await program.answerTo('unnamed')).toMatchObject({ error: { code: -32602 } });
    expect(await program.request('ping')).toMatchObject({ result: {} });
    expect(program.notifications.filter(({ id }) => id !== undefined)).toEqual([]);
    expect(program.noise).toEqual([]);
  });

  it('an output that the agent has closed ends the program, without a stack trace', { tags: ['deep'] }, async () => {
    await using program = await Program.open();
    program.child.stdout.destroy();
    program.write(JSON.stringify(initialize));
    expect(await program.ended).toBe(0);
    expect(program.stderr).not.toMatch(/\n\s+at /);
  });
});

describe('signals', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '%s ends the program with 0, its calls, its page and its port',
    { tags: ['P-003'] },
    async (signal) => {
      const { program, page, port } = await openWithCallInFlight();
      program.child.kill(signal);
      expect(await program.ended).toBe(0);
      expect((await page.message('notifications/cancelled')).params).toMatchObject({ reason: expect.any(String) });
      expect(farewells).toContain(await page.closed);
      await expectFree(port);
      expect(program.noise).toEqual([]);
      expect(program.stderr).not.toMatch(/\n\s+at /);
    },
  );

  it('SIGTERM ends it also when the agent reads none of its answers', { tags: ['deep'] }, async () => {
    const { home, env } = createHome();
    const child = spawn(process.execPath, [programFile], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    const ended = once(child, 'exit');
    // The first answer is read, so that the program is known to run; then megabytes are not.
    child.stdin.write(`${JSON.stringify(initialize)}\n`);
    await once(child.stdout, 'readable');
    for (const { id } of pings(1, 300)) child.stdin.write(`{"jsonrpc":"2.0","id":"${id}${'x'.repeat(30_000)}","method":"ping"}\n`);
    await new Promise((resolve) => child.stdin.write('\n', resolve));
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    rmSync(home, { recursive: true });
  });

  it('SIGTERM ends it also while the open tool waits for a page', { tags: ['deep'] }, async () => {
    await using program = await Program.open();
    const { port } = await program.address();
    program.callTool('open_colab_browser_connection', { wait_seconds: 60 }, { progressToken: 1 }).catch(() => {});
    await program.notification('notifications/progress', 1);
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    await expectFree(port);
  });

  it.runIf(process.platform === 'linux')(
    'SIGKILL leaves no port, no connection and no process behind, at once',
    { tags: ['P-004'] },
    async () => {
      const mark = randomUUID();
      const { program, page, port } = await openWithCallInFlight({ NOTEBRIDGE_TEST_MARK: mark });
      expect(processesMarked(mark)).toEqual([String(program.child.pid)]);
      const killedAt = Date.now();
      program.child.kill('SIGKILL');
      expect(await program.ended).toBe('SIGKILL');
      expect(await page.closed).toBe(1006);
      await expectFree(port);
      expect(processesMarked(mark)).toEqual([]);
      expect(Date.now() - killedAt).toBeLessThan(soonerThanNeverMs);
    },
  );
});

function pings(from: number, to: number): { id: number }[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({ jsonrpc: '2.0', id: from + index, method: 'ping' }));
}

function open(id: number): object {
  const params = { name: 'open_colab_browser_connection', arguments: { wait_seconds: 0 } };
  return { jsonrpc: '2.0', id, method: 'tools/call', params };
}

function idsIn(stdout: string): unknown[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as JsonObject).id);
}

/** A program with a page that is asked and does not answer. */
async function openWithCallInFlight(env: Record<string, string> = {}): Promise<{ program: Program; page: RawPage; port: number }> {
  const program = await Program.open({ env });
  onTestFinished(async () => void (await program.close()));
  const address = await program.address();
  const page = await RawPage.serve(address);
  program.callTool('run_code_cell', { cellId: 'a' }).catch(() => {});
  await page.message('tools/call');
  return { program, page, port: address.port };
}

/** Both loopback families can be bound again at once. */
async function expectFree(port: number): Promise<void> {
  for (const host of ['127.0.0.1', '::1']) {
    const server = createServer().listen({ port, host });
    await once(server, 'listening');
    expect((server.address() as AddressInfo).port).toBe(port);
    server.close();
  }
}

function processesMarked(mark: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
      } catch {
        return false;
      }
    });
}
