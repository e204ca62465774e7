// @module-tag P-135
// @module-tag P-178
// @module-tag P-179

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { GrantStore } from '../../src/grants/grant-store.js';
import { Program } from '../support/program.js';
import { rawRequest } from '../support/raw-http.js';
import { ServedHub } from '../support/served-hub.js';
import { windowUrlIn } from '../support/window-url.js';

const routes = {
  'tool-proxy': { method: 'POST', target: '/api/v1/mcp/proxy/fs/tools/read', body: '{"arguments":{}}' },
  http: { method: 'POST', target: '/mcp', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' },
  owner: { method: 'GET', target: '/api/v1/hub/servers' },
} as const;
type Door = keyof typeof routes;

const auditOf = (dir: string): JsonObject[] => {
  const path = join(dir, 'audit.jsonl');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JsonObject);
};
const refusedOf = (dir: string): JsonObject[] => auditOf(dir).filter(({ outcome }) => outcome === 'refused');
/** What opens a page's or window's socket, or does not. */
const upgrade = (port: number, target: string, origin: string, protocol: string, more: Record<string, string> = {}) =>
  rawRequest(port, {
    target,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-protocol': protocol,
      origin,
      ...more,
    },
  });
const colab = 'https://colab.research.google.com';

describe('who is not let in', () => {
  it('stands in the audit with why, where and whose grant, and never with what was shown', async () => {
    const hub = await ServedHub.start();
    const { stateDir: dir, port } = hub;
    const past = await GrantStore.open({ dir, now: () => Date.now() - 3_610_000 });
    const expired = await past.issue({ ttlMs: 3_600_000 });
    await past.close();
    const store = await GrantStore.open({ dir });
    const [tools, agent, revoked] = [await store.issue(), await store.issue({ door: 'agent' }), await store.issue()];
    await store.revoke(revoked.id);
    await store.close();
    const unknown = `nbg_${'x'.repeat(43)}`;
    const send = (door: Door, headers: Record<string, string>) =>
      rawRequest(port, { ...routes[door], headers: { 'content-type': 'application/json', accept: 'application/json', ...headers } });
    const expected: JsonObject[] = [];
    const attempt = async (
      door: Door,
      reason: string,
      headers: Record<string, string>,
      status: number,
      grantId?: string,
    ): Promise<void> => {
      expect([door, reason, (await send(door, headers)).status]).toEqual([door, reason, status]);
      const who = grantId === undefined ? { principal: 'unknown' } : { principal: 'grant', grant_id: grantId };
      expected.push({ outcome: 'refused', reason, ...who, door, remote: 'loopback', times: 1 });
    };
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    for (const door of Object.keys(routes) as Door[]) {
      await attempt(door, 'missing', {}, 401);
      await attempt(door, 'malformed', { authorization: 'Basic c2VjcmV0OnNlY3JldA==' }, 401);
      await attempt(door, 'unknown', bearer(unknown), 401);
      await attempt(door, 'expired', bearer(expired.token), 401, expired.id);
      await attempt(door, 'revoked', bearer(revoked.token), 401, revoked.id);
      const wrong = door === 'http' ? tools : agent;
      await attempt(door, 'wrong_door', bearer(wrong.token), 403, wrong.id);
      await attempt(door, 'wrong_host', { host: 'evil.example', ...bearer(tools.token) }, 403);
      await attempt(door, 'wrong_origin', { origin: 'https://evil.example', ...bearer(tools.token) }, 403);
    }
    await attempt('owner', 'wrong_door', bearer(tools.token), 403, tools.id);
    for (const door of ['console', 'metrics', 'connect', 'other']) {
      expect((await rawRequest(port, { target: `/${door}`, headers: { host: 'evil.example' } })).status).toBe(403);
      expected.push({ outcome: 'refused', reason: 'wrong_host', principal: 'unknown', door, remote: 'loopback', times: 1 });
    }

    // The hub's one port is that of the page, too.
    expect((await upgrade(port, `/?access_token=${unknown}`, colab, 'mcp')).status).toBe(403);
    expect((await upgrade(port, '/', colab, 'mcp')).status).toBe(401);
    expect((await upgrade(port, `/?access_token=${unknown}`, 'https://evil.example', 'mcp')).status).toBe(403);
    expect((await upgrade(port, `/?access_token=${unknown}`, colab, 'mcp', { host: 'evil.example' })).status).toBe(403);
    for (const reason of ['unknown', 'missing', 'wrong_origin', 'wrong_host'])
      expected.push({ outcome: 'refused', reason, principal: 'unknown', door: 'page', remote: 'loopback', times: 1 });

    await hub.stop();
    const lines = refusedOf(dir);
    expect(lines).toHaveLength(expected.length);
    for (const line of expected) expect(lines).toContainEqual(expect.objectContaining(line));
    expect(hub.log().filter(({ msg }) => String(msg).includes('requests were refused within a minute'))).toMatchObject([
      { level: 'warn', times: expected.length, unknown: 4 },
    ]);
    const written = readFileSync(join(dir, 'audit.jsonl'), 'utf8') + hub.stderr;
    for (const shown of [unknown, expired.token, revoked.token, tools.token, agent.token, 'c2VjcmV0OnNlY3JldA==']) {
      expect(written).not.toContain(shown);
      for (const encoding of ['hex', 'base64', 'base64url'] as const)
        expect(written).not.toContain(createHash('sha256').update(shown).digest(encoding).slice(0, 12));
    }
    await hub[Symbol.asyncDispose]();
  });

  it('stands there also where an agent owns the process: its page and its window', async () => {
    for (const [notebook, door] of [
      ['colab', 'page'],
      ['local', 'window'],
    ] as const) {
      const program = await Program.open({ args: ['--notebook', notebook, '--standalone'] });
      let port = 0;
      if (notebook === 'colab') ({ port } = await program.address());
      else port = Number(new URL(windowUrlIn(JSON.stringify(await program.callTool('open_notebook_window')).replaceAll('\\"', '"'))).port);
      const isPage = notebook === 'colab';
      const target = isPage ? '/?access_token=wrong' : '/viewer?ticket=wrong';
      const origin = isPage ? colab : `http://127.0.0.1:${port}`;
      for (let count = 0; count < 3; count++)
        expect((await upgrade(port, target, origin, isPage ? 'mcp' : 'notebridge-viewer')).status).toBe(403);
      const dir = join(program.home, 'state', 'notebridge');
      // Its folder goes with it.
      let lines: JsonObject[] = [];
      program.child.stdin.end();
      await program.ended;
      lines = refusedOf(dir);
      expect(lines).toEqual([
        expect.objectContaining({ door, reason: 'unknown', principal: 'unknown', remote: 'loopback', times: 1 }),
        expect.objectContaining({ door, reason: 'unknown', times: 2 }),
      ]);
      await program.close();
    }
  });

  it('fills neither disk nor memory, however often it tries: 10,000 wrong tokens', { tags: ['deep'], timeout: 120_000 }, async () => {
    await using hub = await ServedHub.start({ args: ['--notebook', 'none'] });
    const { stateDir: dir, port } = hub;
    const agent = new Agent({ keepAlive: true, maxSockets: 100 });
    const attempt = (token: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const asked = request(
          { port, host: '127.0.0.1', path: routes['tool-proxy'].target, method: 'POST', headers, agent },
          (response) => {
            response.resume().once('end', () => resolve(response.statusCode ?? 0));
          },
        );
        asked.once('error', reject);
        asked.end('{"arguments":{}}');
      });
    const statuses = new Map<number, number>();
    let sent = 0;
    // Some of them wait to be refused; the others go on meanwhile.
    const guess = async (): Promise<void> => {
      while (sent < 10_000) {
        const status = await attempt(`nbg_${String(++sent).padStart(43, 'x')}`);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 100 }, guess));
    agent.destroy();
    expect((statuses.get(401) ?? 0) + (statuses.get(429) ?? 0)).toBe(10_000);
    await hub.stop();
    const lines = refusedOf(dir);
    // Two for each minute that it took.
    expect(lines.length).toBeLessThanOrEqual(6);
    expect(lines.reduce((sum, { times }) => sum + Number(times), 0)).toBe(10_000);
    const bytes = readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
    expect(bytes).toBeLessThan(4096);
    expect(hub.log().length).toBeLessThan(20);
  });
});
