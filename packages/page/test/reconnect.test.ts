import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, describe, expect, it } from 'vitest';
import type { PageSession, PageSessionOptions, PageState } from '../src/index.js';
import { stateOf } from './support/bounded.js';
import { createMemoryStorage, createNodePage } from './support/node-page.js';
import { TestHub, type TestHubOptions } from './support/test-hub.js';

const resume = (token: string): JsonObject => ({ _meta: { 'notebridge/resume_token': token } });

describe('a connection that is lost', () => {
  const sessions: PageSession[] = [];
  const hubs: TestHub[] = [];

  afterEach(async () => {
    for (const session of sessions.splice(0)) session.disconnect();
    for (const hub of hubs.splice(0)) await hub.close();
  });

  const openHub = async (options: TestHubOptions = {}): Promise<TestHub> => {
    const hub = await TestHub.open(options);
    hubs.push(hub);
    return hub;
  };
  const connect = async (hub: TestHub, options: Partial<PageSessionOptions> = {}): Promise<PageSession> => {
    const session = createNodePage({ tools: [{ name: 'hello', run: () => 'world' }], ...options });
    sessions.push(session);
    expect(await session.connectManually(hub.entry)).toMatchObject({ status: 'connected' });
    return session;
  };

  it('is dialled again without asking, until the hub is back', { tags: ['P-053'] }, async () => {
    const hub = await openHub();
    const session = await connect(hub, { consent: () => expect.fail('asked again') });
    const waits: PageState[] = [];
    session.on('state', (state) => state.status === 'waiting' && waits.push(state));
    await hub.close();
    // The loss itself, and at least one dial to a dead port.
    await new Promise<void>((resolve) => session.on('state', () => waits.length >= 2 && resolve()));
    expect(waits[1]).toMatchObject({ status: 'waiting', retryAt: expect.any(Number), diagnosis: 'nobody' });

    const back = await openHub({ port: hub.port });
    const connection = await back.connection(0);
    expect(await connection.callTool('hello')).toMatchObject({ content: [{ text: 'world' }] });
    expect(session.state).toMatchObject({ status: 'connected' });
  });

  it('is dialled with the resume token, once the hub has given one', async () => {
    const hub = await openHub({ handshake: resume('second') });
    const storage = createMemoryStorage();
    const session = await connect(hub, { storage });
    const connection = await hub.connection(0);
    expect(await connection.initialized).toMatchObject({ _meta: { 'notebridge/resume_token': true } });
    expect(JSON.stringify([...storage.items])).toContain('second');
    expect(JSON.stringify([...storage.items])).not.toContain('first');

    hub.tokens.clear();
    hub.tokens.add('second');
    connection.socket.terminate();
    await hub.connection(1);
    session.disconnect();
    expect(hub.dials).toEqual(['first', 'second']);
  });

  it.each([undefined, 7, ''])('keeps its token when the hub gives %j', async (token) => {
    const hub = await openHub({ handshake: { _meta: { 'notebridge/resume_token': token } } });
    await connect(hub);
    const connection = await hub.connection(0);
    expect(await connection.initialized).not.toHaveProperty('_meta');
    connection.socket.close(1001);
    await hub.connection(1);
    expect(hub.dials).toEqual(['first', 'first']);
  });

  it.each([
    [1013, 'busy'],
    [1008, 'refused'],
    [3000, 'refused'],
    [4401, 'refused'],
    [4403, 'refused'],
  ])('is given up after close code %i', { tags: ['P-053'] }, async (code, reason) => {
    const hub = await openHub();
    const session = await connect(hub);
    (await hub.connection(0)).socket.close(code);
    expect(await stateOf(session, 'disconnected')).toEqual({ status: 'disconnected', reason, code });
    expect(hub.dials).toHaveLength(1);
  });

  it('is given up when the hub that came back knows it no more', { tags: ['P-053'] }, async () => {
    const hub = await openHub();
    const storage = createMemoryStorage();
    const session = await connect(hub, { storage });
    await hub.close();
    const stranger = await openHub({ port: hub.port, tokens: ['new'] });
    expect(await stateOf(session, 'disconnected')).toMatchObject({ reason: 'refused', diagnosis: 'refused' });
    // A refusal may come of a hub that was just starting, so it is asked once more.
    expect(stranger.dials).toEqual(['first', 'first']);
    expect(storage.items.size).toBe(0);
  });

  it('is given up after so many tries, and dialled again when asked', async () => {
    const hub = await openHub();
    const session = await connect(hub, { reconnect: { firstMs: 1, maxMs: 5, attempts: 3 } });
    await hub.close();
    expect(await stateOf(session, 'disconnected')).toMatchObject({ reason: 'unreachable', diagnosis: 'nobody' });
    await openHub({ port: hub.port });
    expect(await session.connect()).toMatchObject({ status: 'connected' });
  });

  it('is tried at once when asked, and never again after a disconnect', { tags: ['P-053'] }, async () => {
    const hub = await openHub();
    const session = await connect(hub, { reconnect: { firstMs: 3_600_000, maxMs: 3_600_000 }, consent: () => expect.fail('asked again') });
    (await hub.connection(0)).socket.terminate();
    await stateOf(session, 'waiting');
    expect(await session.connect()).toMatchObject({ status: 'connected' });
    (await hub.connection(1)).socket.terminate();
    await stateOf(session, 'waiting');
    session.disconnect();
    expect(session.state).toEqual({ status: 'disconnected', reason: 'person' });

    // Also not by a dial that was a millisecond away: another page has come and gone since.
    const quick = await connect(hub, { reconnect: { firstMs: 1, maxMs: 1 } });
    (await hub.connection(2)).socket.terminate();
    await stateOf(quick, 'waiting');
    quick.disconnect();
    await connect(hub);
    expect([quick.state, hub.dials.length]).toEqual([{ status: 'disconnected', reason: 'person' }, 4]);
  });

  it('is noticed when nothing comes any more, though the socket looks open', { tags: ['P-053'] }, async () => {
    const hub = await openHub();
    await connect(hub, { quietMs: 50 });
    const first = await hub.connection(0);
    expect(await first.message(({ method }) => method === 'ping')).toMatchObject({ id: 'ping-1' });
    // The small hub answers no ping.
    await hub.connection(1);
  });

  it('stays lost when reconnecting is off', async () => {
    const hub = await openHub();
    const session = await connect(hub, { reconnect: false });
    (await hub.connection(0)).socket.terminate();
    expect(await stateOf(session, 'disconnected')).toEqual({ status: 'disconnected', reason: 'lost', code: 1006 });
  });
});
