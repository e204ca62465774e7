import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ConsentRequest, describeState, type PageSession, type PageSessionOptions, type PageState } from '../src/index.js';
import { stateOf, within } from './support/bounded.js';
import { createAddressBar, createMemoryStorage, createNodePage } from './support/node-page.js';
import { TestHub, type TestHubOptions } from './support/test-hub.js';

const sessions: PageSession[] = [];
const hubs: TestHub[] = [];

const openHub = async (options: TestHubOptions = {}): Promise<TestHub> => {
  const hub = await TestHub.open(options);
  hubs.push(hub);
  return hub;
};
const createPage = (options: Partial<PageSessionOptions> = {}): PageSession => {
  const session = createNodePage(options);
  sessions.push(session);
  return session;
};

afterEach(async () => {
  for (const session of sessions.splice(0)) session.disconnect();
  for (const hub of hubs.splice(0)) await hub.close();
});

describe('connecting', () => {
  let hub: TestHub;
  beforeEach(async () => {
    hub = await openHub();
  });
  const urlOf = ({ port }: TestHub): string => `https://page.example/?a=1#mcpProxyToken=first&mcpProxyPort=${port}`;

  it('takes the address out of the URL at once, asks, dials, and knows the agent', { tags: ['P-052', 'P-053'] }, async () => {
    const bar = createAddressBar(urlOf(hub));
    const asked: ConsentRequest[] = [];
    const states: PageState[] = [];
    const agents: unknown[] = [];
    const session = createPage({
      ...bar,
      title: 'A page',
      tools: [
        { name: 'a', title: 'Tool A', run: () => 1 },
        { name: 'b', run: () => 1 },
      ],
      consent: async (request) => {
        asked.push(request);
        expect(hub.dials).toEqual([]);
        return true;
      },
    });
    expect(bar.location.href).toBe('https://page.example/?a=1');
    session.on('state', (state) => states.push(state));
    session.on('agent', (agent) => agents.push(agent));

    const agent = { name: 'test-agent', version: '1.2' };
    expect(await session.connect()).toEqual({ status: 'connected', agent });
    expect(asked).toMatchObject([{ page: 'A page', tools: ['Tool A', 'b'], port: hub.port }]);
    expect(asked[0]).not.toHaveProperty('agentName');
    session.disconnect();
    session.disconnect();
    expect(await within('the close', (await hub.connection(0)).closed)).toBe(1000);
    expect(states).toEqual([
      { status: 'asking', port: hub.port },
      { status: 'connecting', port: hub.port },
      { status: 'connected', agent },
      { status: 'disconnected', reason: 'person' },
    ]);
    expect(agents).toEqual([agent, undefined]);
  });

  it('is idle without an address, and dials nobody who was refused', async () => {
    expect(await createPage().connect()).toEqual({ status: 'idle' });
    const storage = createMemoryStorage();
    const session = createPage({ ...createAddressBar(urlOf(hub)), storage, consent: () => false });
    expect(await session.connect()).toEqual({ status: 'disconnected', reason: 'consent' });
    expect(hub.dials).toEqual([]);
    // A reload must not ask again what was answered.
    expect(storage.items.size).toBe(0);
  });

  it('takes anything but true for no, and a consent that throws too', { tags: ['P-052'] }, async () => {
    const session = createPage({ ...createAddressBar(urlOf(hub)), consent: (() => 'yes') as never });
    expect(await session.connect()).toMatchObject({ reason: 'consent' });
    // Without a document, the default cannot ask.
    const { consent: _, ...silent } = { ...createAddressBar(urlOf(hub)), consent: undefined };
    const other = createPage({ ...silent, consent: undefined as never });
    await expect(other.connect()).rejects.toThrow('no document');
    expect(other.state).toMatchObject({ reason: 'consent' });
    expect(hub.dials).toEqual([]);
  });

  it('goes on after a reload without asking again, until the person disconnects', { tags: ['P-053'] }, async () => {
    const storage = createMemoryStorage();
    const first = createPage({ ...createAddressBar(urlOf(hub)), storage });
    await first.connect();
    // What a browser does with the socket of a page that goes.
    hub.connections[0]?.socket.terminate();
    const asked: ConsentRequest[] = [];
    const second = createPage({ ...createAddressBar('https://page.example/?a=1'), storage, consent: (request) => asked.push(request) > 0 });
    expect(await second.connect()).toMatchObject({ status: 'connected' });
    expect(asked).toEqual([]);

    second.disconnect();
    const third = createPage({ storage });
    expect(await third.connect()).toEqual({ status: 'idle' });
    // In the page's own life, though, the person can think again.
    expect(await second.connect()).toMatchObject({ status: 'connected' });
    expect(asked).toMatchObject([{ agentName: 'test-agent' }]);
  });

  it('takes a manual entry without asking, even while it asks', async () => {
    const other = await openHub({ tokens: ['other'] });
    let signal: AbortSignal | undefined;
    const session = createPage({
      ...createAddressBar(urlOf(hub)),
      consent: (request) => {
        signal = request.signal;
        return new Promise((resolve) => request.signal.addEventListener('abort', () => resolve(true)));
      },
    });
    const connected = session.connect();
    await stateOf(session, 'asking');
    await expect(session.connectManually('nonsense')).rejects.toThrow('Expected "<token>&<port>"');
    expect(session.state.status).toBe('asking');
    await session.connectManually(other.entry);
    expect(signal?.aborted).toBe(true);
    expect(await connected).toMatchObject({ status: 'connected' });
    expect(hub.dials).toEqual([]);
    expect(other.dials).toEqual(['other']);
  });

  it('obeys a disconnect in the middle of anything', async () => {
    for (const status of ['asking', 'connecting', 'connected'] as const) {
      const session = createPage(createAddressBar(urlOf(hub)));
      const seen: string[] = [];
      session.on('state', (state) => {
        if (state.status === status) session.disconnect();
      });
      session.on('state', (state) => seen.push(state.status));
      await session.connect();
      expect(session.state).toEqual({ status: 'disconnected', reason: 'person' });
      expect(seen.at(-1)).toBe('disconnected');
    }
  });

  it('shows no name that could deceive', { tags: ['P-198'] }, async () => {
    const evil = await openHub({ handshake: { clientInfo: { name: `  a\u202Eb\n\u0000c${'x'.repeat(500)}`, version: 7 } } });
    const session = createPage();
    const state = await session.connectManually(evil.entry);
    expect(state).toEqual({ status: 'connected', agent: { name: `abc${'x'.repeat(77)}` } });
    const nameless = await openHub({ handshake: { clientInfo: { name: '\u200B' } } });
    expect(await createPage().connectManually(nameless.entry)).toMatchObject({ agent: { name: 'an unnamed program' } });
  });
});

describe('a dial that comes to nothing', () => {
  it('tells a refusal from a dead port, and tries neither again', { tags: ['P-053'] }, async () => {
    const hub = await openHub();
    const refused = createPage();
    expect(await refused.connectManually(`wrong&${hub.port}`)).toMatchObject({
      status: 'disconnected',
      reason: 'refused',
      diagnosis: 'refused',
    });
    await hub.close();
    const nobody = createPage();
    expect(await nobody.connectManually(hub.entry)).toMatchObject({ status: 'disconnected', reason: 'unreachable', diagnosis: 'nobody' });
    expect(await nobody.diagnose()).toBe('nobody');
    expect(hub.dials).toEqual(['wrong']);
  });

  it.each(['loopback-network', 'local-network-access'])('tells when the browser denies "%s"', async (known) => {
    const hub = await openHub();
    const permissions = {
      query: async ({ name }: { name: string }) => {
        if (name !== known) throw new TypeError('unknown permission');
        return { state: 'denied' };
      },
    };
    const session = createPage({ permissions });
    const state = await session.connectManually(`wrong&${hub.port}`);
    expect(state).toMatchObject({ status: 'disconnected', reason: 'unreachable', diagnosis: 'blocked' });
    expect(describeState(state)).toContain('local network access');
  });

  it('takes a WebSocket that cannot even be made for blocked or dead', async () => {
    const WebSocket = class {
      constructor() {
        throw new DOMException('insecure', 'SecurityError');
      }
    };
    const session = createPage({ WebSocket: WebSocket as never });
    expect(await session.connectManually('first&1')).toEqual({ status: 'disconnected', reason: 'unreachable', diagnosis: 'nobody' });
  });

  it('takes a close code that means 403 for a refusal', async () => {
    const hub = await openHub({ onSocket: (socket) => socket.close(4403, 'go away') });
    expect(await createPage().connectManually(hub.entry)).toMatchObject({ status: 'disconnected', reason: 'refused', code: 4403 });
  });

  it('hangs up on a program that lets it in and never greets', async () => {
    let closed: Promise<number> | undefined;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const hub = await openHub({
        onSocket: (socket) => {
          closed = new Promise((resolve) => socket.once('close', resolve));
        },
      });
      const session = createPage({ reconnect: false });
      const connected = session.connectManually(hub.entry);
      await vi.waitUntil(() => closed !== undefined && vi.getTimerCount() > 0, 20_000);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await closed).toBe(1000);
      expect(await connected).toMatchObject({ status: 'disconnected', reason: 'lost' });
    } finally {
      vi.useRealTimers();
    }
  });
});

it.each<[PageState, string]>([
  [{ status: 'idle' }, 'Not connected.'],
  [{ status: 'asking', port: 1 }, 'Waiting for your answer …'],
  [{ status: 'connecting', port: 1 }, 'Connecting …'],
  [{ status: 'connected', agent: { name: 'a', version: '2' } }, 'Connected to a 2.'],
  [{ status: 'waiting', retryAt: 1 }, 'The connection was lost; trying again …'],
  [{ status: 'disconnected', reason: 'lost', code: 1006 }, 'The connection was lost.'],
  [{ status: 'disconnected', reason: 'person' }, 'Disconnected.'],
])('describeState(%j) says: %s', (state, text) => {
  expect(describeState(state)).toBe(text);
});
