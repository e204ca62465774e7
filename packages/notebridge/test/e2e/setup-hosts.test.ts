// @module-tag deep
// @module-tag P-265

import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Program, programFile, runProgram } from '../support/program.js';
import { installedServer, ServedHub } from '../support/served-hub.js';

let home = '';
let env: Record<string, string> = {};
beforeEach(() => {
  home = realpathSync.native(mkdtempSync(join(tmpdir(), 'notebridge-setup-')));
  env = { HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Runs `setup … --write`, and reads the entry as the host does. */
async function setUp(host: string, ...words: string[]): Promise<JsonObject> {
  const { ending, stdout, stderr } = await runProgram(['setup', host, ...words, '--write', '--json'], { env });
  expect(stderr).toBe('');
  expect(ending).toBe(0);
  const { file, scope, project = '' } = JSON.parse(stdout) as { file: string; scope: string; project?: string };
  const text = readFileSync(file, 'utf8');
  const config = (file.endsWith('.toml') ? parse(text) : JSON.parse(text)) as JsonObject;
  const [servers] = Object.values(scope === 'local' ? ((config.projects as JsonObject)[project] as JsonObject) : config) as JsonObject[];
  return (servers?.notebridge ?? {}) as JsonObject;
}

describe('the command that setup writes', { timeout: 120_000 }, () => {
  it.each(['claude-code', 'claude-desktop', 'cursor', 'vscode', 'gemini', 'codex'])('starts us for %s, from any folder', async (host) => {
    const { command, args } = (await setUp(host, '--notebook', 'jupyter')) as { command: string; args: string[] };
    expect([command, ...args]).toEqual(['node', programFile, '--notebook', 'jupyter']);
    await using program = await Program.open({ args: args.slice(1), cwd: '/' });
    expect(JSON.stringify(await program.request('tools/list'))).toContain('"list_notebooks"');
  });

  it.each(['claude-code', 'codex'])('has %s list the tools of code mode', { tags: ['P-458'] }, async (host) => {
    const { args } = (await setUp(host, '--code-mode')) as { args: string[] };
    expect(args.slice(1)).toEqual(['--code-mode']);
    await using program = await Program.open({ args: args.slice(1), cwd: '/' });
    expect(JSON.stringify(await program.request('tools/list'))).toContain('"execute_code"');
  });

  it('runs a cell in the notebook and kernel that were named', async () => {
    const file = join(home, 'work.ipynb');
    const { args } = (await setUp('cursor', '--notebook', file, '--kernel', 'pyodide')) as { args: string[] };
    await using program = await Program.open({ args: args.slice(1), cwd: '/' });
    expect(JSON.stringify(await program.callTool('run_code', { code: 'print(6 * 7)' }))).toContain('42');
    await program.close();
    expect(readFileSync(file, 'utf8')).toContain('print(6 * 7)');
  });
});

describe('the address that setup writes', { timeout: 120_000 }, () => {
  it('leads hosts to the hub, with the token of the variable alone', async () => {
    await using hub = await ServedHub.start({ servers: { everything: installedServer('everything') }, args: ['--notebook', 'none'] });
    env = { ...hub.env, XDG_CONFIG_HOME: join(home, '.config'), HOME: home };
    const { stdout } = await runProgram(['grant', '--agent', '--ttl', '30d'], { env: hub.env });
    const token = stdout.trim();
    for (const [host, reference] of [
      ['claude-code', '${NOTEBRIDGE_AGENT_TOKEN}'],
      ['cursor', '${env:NOTEBRIDGE_AGENT_TOKEN}'],
      ['vscode', '${env:NOTEBRIDGE_AGENT_TOKEN}'],
      ['gemini', '${NOTEBRIDGE_AGENT_TOKEN}'],
      ['codex', undefined],
    ] as const) {
      const entry = (await setUp(host, '--url')) as { url?: string; httpUrl?: string; headers?: { Authorization: string } };
      const written = entry.headers?.Authorization ?? `Bearer ${String((entry as JsonObject).bearer_token_env_var)}`;
      const url = entry.url ?? entry.httpUrl ?? '';
      const authorization = written.replace(reference ?? 'NOTEBRIDGE_AGENT_TOKEN', token);
      expect(authorization, host).toBe(`Bearer ${token}`);
      expect([host, await initialize(url, authorization), await initialize(url, written)]).toEqual([host, 200, 401]);
    }
  });
});

async function initialize(url: string, authorization: string): Promise<number> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'host', version: '1' } };
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  await response.text();
  return response.status;
}
