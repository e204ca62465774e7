import type { Principal } from '@notebridge/protocol/core/principal';
import { describe, expect, it } from 'vitest';
import { initialize, openMcpHttp } from '../support/mcp-http.js';

/** What one agent may take of what all of them share. */

const authenticate = (header: string | undefined): Principal => {
  const name = header?.replace('Bearer ', '') ?? '';
  return name === 'owner' ? { kind: 'owner' } : { kind: 'grant', grantId: name };
};
const as = (name: string) => ({ authorization: `Bearer ${name}` });

describe('sessions of one grant that take all places', () => {
  const opened = async (maxSessions: number) => {
    const door = await openMcpHttp({ authenticate, limits: { maxSessions } });
    return { ...door, openAs: (name: string) => door.open(as(name)) };
  };

  it.each(['owner', 'another'])('give one back to %s: the one that was not used for longest', { tags: ['P-204'] }, async (newcomer) => {
    const { openAs, door } = await opened(3);
    const [first, second, third] = [await openAs('greedy'), await openAs('greedy'), await openAs('greedy')];
    await first.request('ping');
    const late = await openAs(newcomer);
    expect((await late.request('ping')).status).toBe(200);
    expect((await second.request('ping')).status).toBe(404);
    for (const kept of [first, third]) expect((await kept.request('ping')).status).toBe(200);
    expect(door.sessions).toBe(3);
  });

  it('give back none that works while another waits for nothing, and the newest where all work', { tags: ['deep'] }, async () => {
    const { openAs, test } = await opened(2);
    const [busy, idle] = [await openAs('greedy'), await openAs('greedy')];
    const call = busy.call('wait');
    await test.waiting();
    await openAs('owner');
    expect((await idle.request('ping')).status).toBe(404);
    await openAs('owner');
    expect((await (await call).text()).includes('The session has ended')).toBe(true);
  });

  it('give back none to who holds as many, nor does the owner', { tags: ['deep'] }, async () => {
    const { openAs, post } = await opened(3);
    await openAs('owner');
    await openAs('one');
    await openAs('other');
    for (const name of ['one', 'other', 'third']) expect((await post(initialize(9), as(name))).status).toBe(503);
  });
});

it('requests of one grant under way leave places to the others', { tags: ['deep'] }, async () => {
  const { ask, test } = await openMcpHttp({ authenticate, limits: { maxInFlight: 4 } });
  const call = (name: string) => ask('tools/call', { name: 'wait', arguments: {} }, { headers: as(name) });
  const waiting = [];
  for (let calls = 0; calls < 3; calls++) {
    waiting.push(call('greedy'));
    await test.waiting();
  }
  const refused = await call('greedy');
  expect(refused.status).toBe(503);
  expect(await refused.text()).toContain('3 requests of yours');
  expect((await ask('tools/list', {}, { headers: as('another') })).status).toBe(200);
  test.release();
  for (const answer of waiting) expect((await answer).status).toBe(200);
});

it('a batch of more than 1,024 messages is refused whole', { tags: ['deep'] }, async () => {
  const { open } = await openMcpHttp();
  const session = await open({}, {}, '2025-03-26');
  const batch = (count: number) => Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
  const refused = await session.post(batch(1025));
  expect(refused.status).toBe(413);
  expect(await refused.json()).toMatchObject({ id: null, error: { data: { code: 'limit_reached' } } });
  expect(await (await session.post(batch(1024))).json()).toHaveLength(1024);
});
