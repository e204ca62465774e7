// @module-tag deep
// @module-tag P-011

import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, runProgram } from '../support/program.js';
import { installedServer, isAlive, ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

interface Report {
  ok: boolean;
  checks: { name: string; status: string; found: string; next?: string }[];
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-doctor-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const writeConfig = (name: string, config: unknown): string => {
  const file = join(folder, name);
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config));
  return file;
};
const doctor = async (args: string[], env: Record<string, string> = {}): Promise<Report & { ending: unknown; output: string }> => {
  const { ending, stdout, stderr } = await runProgram(['doctor', '--json', '--port', '0', '--no-kernel', ...args], { env });
  return { ...(JSON.parse(stdout) as Report), ending, output: stdout + stderr };
};
const find = ({ checks }: Report, name: string) => checks.find((check) => check.name === name);

describe('doctor', () => {
  it('finds no fault in a set-up that works, starts what it looks at, and ends it', async () => {
    const config = writeConfig('good.json', { mcpServers: { memory: installedServer('memory'), off: { command: 'x', disabled: true } } });
    const report = await doctor(['--config', config]);
    expect(report).toMatchObject({ ok: true, ending: 0 });
    expect(find(report, 'server memory')).toMatchObject({ status: 'ok', found: 'starts and lists 9 tools', ms: expect.any(Number) });
    expect(find(report, 'server off')).toMatchObject({ status: 'note' });
    expect(find(report, 'Node.js')).toMatchObject({ status: 'ok' });
  });

  it('says what a person approves, who can be asked, and whether agents call tools by code', { tags: ['P-459'] }, async () => {
    const shop = { command: process.execPath, args: [fixtureServer('approvals.mjs'), 'none'] };
    const plain = await doctor(['--config', writeConfig('plain.json', { mcpServers: { shop: { ...shop, placement: 'any' } } })]);
    expect(plain.checks.filter(({ name }) => name === 'config')).toMatchObject([
      { status: 'ok' },
      { status: 'note', found: expect.stringContaining('is read as "each"') },
    ]);
    expect(find(plain, 'approvals')).toMatchObject({ status: 'ok', found: expect.stringContaining('no call waits') });
    expect(find(plain, 'code mode')).toMatchObject({ status: 'ok', found: expect.stringMatching(/^off/) });
    const servers = { shop: { ...shop, approve: 'writes' }, other: { ...shop, expose: 'direct' } };
    const config = writeConfig('approvals.json', { mcpServers: servers, notebridge: { approve: 'destructive', codeMode: true } });
    const report = await doctor(['--config', config]);
    expect(report).toMatchObject({ ok: true, ending: 0 });
    expect(find(report, 'approvals')).toMatchObject({
      status: 'note',
      found: expect.stringMatching(
        /calls that may destroy something, of other; calls that may change something, of shop\. .* since no hub serves$/,
      ),
      next: expect.stringContaining('notebridge serve'),
    });
    expect(find(report, 'code mode')).toMatchObject({ found: expect.stringMatching(/on by the config: .* and the tools of other$/) });
    expect(find(report, 'server shop')).toMatchObject({ found: 'starts and lists 5 tools, of which a person approves 3' });
    expect(find(report, 'server other')).toMatchObject({ found: 'starts and lists 5 tools, of which a person approves 2' });
    await using hub = await ServedHub.start({ args: ['--notebook', 'none'] });
    const served = await doctor(['--config', config], hub.env);
    expect(find(served, 'approvals')).toMatchObject({ status: 'ok', found: expect.stringContaining('else you are: notebridge approvals') });
    const withVariable = async (value: string) =>
      find(await doctor(['--config', writeConfig('none.json', {})], { ...hub.env, NOTEBRIDGE_CODE_MODE: value }), 'code mode');
    expect((await withVariable('yes'))?.found).toMatch(/^on by NOTEBRIDGE_CODE_MODE: agents are listed search_tools/);
    expect(await withVariable('agent-codemode')).toMatchObject({ status: 'fault', next: expect.stringContaining('no longer offered') });
  });

  it('leaves nothing of a server that it started', async ({ skip }) => {
    skip(process.platform !== 'linux', 'only Linux lets a process that left its group be found');
    const ids = join(folder, 'ids');
    const config = writeConfig('family.json', {
      mcpServers: { family: { command: process.execPath, args: [fixtureServer('family.mjs'), ids] } },
    });
    expect(find(await doctor(['--config', config]), 'server family')).toMatchObject({ status: 'ok' });
    const pids = linesOf(ids).map(Number);
    expect(pids).toHaveLength(3);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });

  it('starts the built-in Python', async () => {
    const { stdout } = await runProgram(['doctor', '--json', '--port', '0']);
    expect(find(JSON.parse(stdout) as Report, 'built-in Python')).toMatchObject({ status: 'ok', ms: expect.any(Number) });
  });

  it('says of each broken server what is wrong and how to mend it, and shows no secret', async () => {
    const secret = 'sk-doctor-secret-1234567';
    const config = writeConfig('servers.json', {
      mcpServers: {
        missing: { command: 'no-such-command-anywhere' },
        dies: {
          command: process.execPath,
          args: ['-e', 'console.error("bad key " + process.env.KEY); process.exit(3)'],
          env: { KEY: secret },
        },
        away: { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: `Bearer ${secret}` } },
      },
    });
    const report = await doctor(['--config', config]);
    expect(report).toMatchObject({ ok: false, ending: 1 });
    expect(find(report, 'server missing')).toMatchObject({
      status: 'fault',
      found: 'the command "no-such-command-anywhere" is not on PATH',
    });
    expect(find(report, 'server dies')?.found).toMatch(/exit code 3[^]*bad key \[redacted: \w+ …4567\]/);
    expect(find(report, 'server away')).toMatchObject({ status: 'fault', next: expect.stringContaining('"url"') });
    for (const { status, next } of report.checks) if (status === 'fault') expect(next).toMatch(/\w/);
    expect(report.output).not.toContain(secret);
  });

  it('lists each fault of a config with its place, and goes on', async () => {
    const config = writeConfig('broken.json', '{\n  "mcpServers": {"a": {"comand": "x"}, "b": {"command": "${NOT_SET_ANYWHERE}"}}\n}');
    const report = await doctor(['--config', config]);
    expect(report.ending).toBe(1);
    const faults = report.checks.filter(({ name }) => name === 'config');
    expect(faults.map(({ found }) => found).join('\n')).toMatch(/broken\.json:2:\d+: .*comand/);
    expect(faults.map(({ found }) => found).join('\n')).toContain('NOT_SET_ANYWHERE');
    expect(find(report, 'running hub')).toMatchObject({ status: 'ok' });
  });

  it('tells who has the port, a hub file without a hub, and a folder that is open to others', async () => {
    const { home, env } = createHome();
    const stateDir = join(home, 'state', 'notebridge');
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    const hub = { url: 'http://127.0.0.1:1', pid: 2 ** 22 + 1, startedAt: 0, version: '0', nonce: 'x' };
    writeFileSync(join(stateDir, 'hub.json'), JSON.stringify(hub), { mode: 0o600 });
    const server = createServer().listen({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const report = await doctor(['--port', String(port)], env);
    server.close();
    expect(find(report, `port ${port}`)).toMatchObject({ status: 'note', found: expect.stringMatching(/^taken by /) });
    expect(find(report, 'running hub')).toMatchObject({ status: 'fault', next: expect.stringContaining('hub.json') });
    chmodSync(stateDir, 0o755);
    expect(find(await doctor([], env), 'state folder')).toMatchObject({ status: 'fault', found: expect.stringContaining('chmod 700') });
    rmSync(home, { recursive: true, force: true });
  });

  it('knows the running hub', async () => {
    await using hub = await ServedHub.start({ args: ['--notebook', 'none'] });
    const report = await doctor(['--port', String(hub.port)], hub.env);
    expect(find(report, 'running hub')).toMatchObject({ status: 'ok', found: expect.stringContaining(hub.url) });
    expect(find(report, `port ${hub.port}`)).toMatchObject({ status: 'ok', found: 'your running hub has it' });
  });

  it('reads well as text', async () => {
    const config = writeConfig('text.json', { mcpServers: { missing: { command: 'no-such-command-anywhere' } } });
    const { ending, stdout } = await runProgram(['doctor', '--config', config, '--port', '0', '--no-kernel']);
    expect(ending).toBe(1);
    expect(stdout).toMatch(/^ok {4}Node\.js: /m);
    expect(stdout).toMatch(/^FAULT server missing: .*PATH\n {8}→ Install it/m);
    expect(stdout).toMatch(/\n1 fault\.\n$/);
  });
});
