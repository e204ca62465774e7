// @module-tag deep
// @module-tag P-060

import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { modernVersion, withEnvelope } from '../support/agents.js';
import { EventReader, LegacySession } from '../support/mcp-http.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const uri = 'private://salaries';
const last = 'notifications/prompts/list_changed';

/** Until the last thing that the server says, which everybody may hear. That the tools of a server are known now may come between. */
async function heard(reader: EventReader): Promise<unknown[]> {
  const methods: unknown[] = [];
  while (methods.at(-1) !== last) {
    const { method } = (await reader.next()) ?? expect.fail('The stream has ended.');
    if (method !== 'notifications/tools/list_changed') methods.push(method);
  }
  return methods;
}

describe('what a server says of its own accord', () => {
  let hub: ServedHub;
  beforeAll(async () => {
    const servers = Object.fromEntries(
      ['talks', 'other'].map((name) => [name, { command: process.execPath, args: [fixtureServer('talks.mjs')] }]),
    );
    const own = { ...servers.talks, instances: 'per-agent' };
    hub = await ServedHub.start({ servers: { ...servers, own }, args: ['--notebook', 'none'] });
    // A server that comes up says so; that is over.
    const isUp = async (): Promise<boolean> => {
      const response = await hub.request('/api/v1/hub/servers', { token: hub.ownerToken });
      const { servers: list } = (await response.json()) as { servers: { status: string }[] };
      return list.every(({ status }) => status === 'running');
    };
    await vi.waitUntil(isUp, { timeout: 45_000 });
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  const post =
    (token: string) =>
    (message: unknown, headers: Record<string, string | undefined> = {}, signal?: AbortSignal) =>
      fetch(new URL('/mcp', hub.url), {
        method: 'POST',
        headers: {
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
          ...(headers as Record<string, string>),
        },
        body: JSON.stringify(message),
        ...(signal === undefined ? {} : { signal }),
      });
  const tokenFor = async (allow: string | undefined): Promise<string> =>
    allow === undefined ? hub.ownerToken : (await hub.grant('--agent', '--allow', allow)).token;
  const talk = async (): Promise<void> => {
    expect((await hub.call('talks', 'talk', {}, hub.ownerToken)).answer).toMatchObject({ success: true });
  };

  const everything = ['notifications/message', 'notifications/resources/updated', last];
  const cases: [who: string, allow: string | undefined, expected: string[]][] = [
    ['the owner', undefined, everything],
    ['an agent that may use all of the server', 'talks:*', everything],
    ['an agent that may use one tool of it', 'talks:talk', [last]],
    ['an agent that may use another server', 'other:*', [last]],
  ];

  it.each(cases)('is heard by %s as far as it may: legacy', async (_, allow, expected) => {
    const token = await tokenFor(allow);
    const session = await LegacySession.open(new URL('/mcp', hub.url), post(token), { authorization: `Bearer ${token}` });
    const reader = await session.listen();
    await talk();
    expect(await heard(reader)).toEqual(expected);
    await session.delete();
  });

  it('is heard, where each agent has a server of its own, in its log by that agent alone', async () => {
    const open = (): Promise<LegacySession> =>
      LegacySession.open(new URL('/mcp', hub.url), post(hub.ownerToken), { authorization: `Bearer ${hub.ownerToken}` });
    const [speaks, listens] = [await open(), await open()];
    const readers = [await speaks.listen(), await listens.listen()];
    expect((await speaks.call('own__talk')).status).toBe(200);
    const [own, others] = await Promise.all(readers.map(heard));
    expect(own).toContain('notifications/message');
    expect(others).not.toContain('notifications/message');
    await Promise.all([speaks.delete(), listens.delete()]);
  });

  it.each(cases)('is heard by %s as far as it may: modern', async (_, allow, expected) => {
    const params: JsonObject = { notifications: { promptsListChanged: true, resourceSubscriptions: [uri] } };
    const request = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: withEnvelope(params) };
    const headers = { 'mcp-protocol-version': modernVersion, 'mcp-method': 'subscriptions/listen' };
    const reader = new EventReader(await post(await tokenFor(allow))(request, headers));
    expect((await reader.next())?.method).toBe('notifications/subscriptions/acknowledged');
    await talk();
    expect(await heard(reader)).toEqual(expected.filter((method) => method !== 'notifications/message'));
    await reader.close();
  });
});
