// @module-tag deep

import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ServedHub, type ServedHubOptions } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const program = fileURLToPath(new URL('../../../../examples/own-hub.mjs', import.meta.url));
const servers = { calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'] } };
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

/** What can be seen of a hub from outside. */
async function seen(options: ServedHubOptions) {
  await using hub = await ServedHub.start({ servers, ...options });
  const token = hub.ownerToken;
  const called = await hub.call('calls', 'echo', { a: 1 }, token);
  const refused = await hub.call('calls', 'echo', { a: 1 });
  const agent = await hub.grant('--agent', '--allow', 'calls:echo');
  const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
  const listed = await hub.request('/mcp', { token: agent.token, body: list, headers });
  const commands = await hub.run('servers', '--json');
  const files = () => readdirSync(hub.stateDir).sort();
  const before = files();
  const ending = await hub.stop();
  return {
    answers: [called.status, called.answer.success, refused.status],
    listed: [listed.status, await listed.json()],
    servers: (JSON.parse(commands.stdout) as { servers: { name: string }[] }).servers.map(({ name }) => name),
    files: [before, files()],
    ending,
  };
}

describe('a hub in a program of fifteen lines', () => {
  it('does what `notebridge serve` does', async () => {
    const own = await seen({ program });
    expect(own.answers).toEqual([200, true, 401]);
    expect(own).toEqual(await seen({ args: ['--no-browser'] }));
  });
});
