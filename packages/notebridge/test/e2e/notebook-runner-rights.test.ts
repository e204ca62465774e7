// @module-tag deep
// @module-tag P-443

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { initialize } from '../support/mcp-http.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const slow = 90_000;
const echo = 'from generated.mcp.calls import echo\nawait echo(a=1)';

describe('code in the notebook of a hub, once an agent with a grant has had code run there,', () => {
  let hub: ServedHub;
  /** Runs a cell in a session of its own, which ends with it. Resolves to what the cell showed, as one text. */
  const run = async (token: string, code: string): Promise<string> => {
    const headers = { accept: 'application/json, text/event-stream' };
    const opened = await hub.request('/mcp', { token, body: initialize(), headers });
    await opened.text();
    const session = { ...headers, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'run_code', arguments: { code } } };
    const answered = await (await hub.request('/mcp', { token, body: call, headers: session })).text();
    await hub.request('/mcp', { token, method: 'DELETE', headers: session });
    return answered;
  };
  const grantOf = async (...allow: string[]) => hub.grant('--agent', ...allow.flatMap((pattern) => ['--allow', pattern]));
  const outcomes = (): unknown[] => {
    const lines = readFileSync(join(hub.stateDir, 'audit.jsonl'), 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as JsonObject).flatMap(({ tool, outcome }) => (tool === 'echo' ? [outcome] : []));
  };
  beforeAll(async () => {
    hub = await ServedHub.start({
      servers: { calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), '/dev/null'] } },
      args: ['--notebook', 'local'],
    });
  }, slow);
  afterAll(() => hub[Symbol.asyncDispose]());

  it('calls only what the grant allows, whoever runs it, also by what another has left behind', { timeout: slow }, async () => {
    const owner = hub.ownerToken;
    expect(await run(owner, echo)).toContain("{'a': 1}");
    const { token: wide } = await grantOf('notebook:*', 'calls:*');
    expect(await run(wide, echo)).toContain("{'a': 1}");
    expect(await run(owner, echo)).toContain("{'a': 1}");
    const { token: narrow } = await grantOf('notebook:*');
    for (const token of [narrow, owner, wide]) expect(await run(token, 'await echo(a=1)')).toContain('Denied: grant');
    const expected = ['ok', 'ok', 'ok', 'denied', 'denied', 'denied'];
    await vi.waitUntil(() => outcomes().length >= expected.length, { timeout: 45_000 });
    expect(outcomes()).toEqual(expected);
  });
});
