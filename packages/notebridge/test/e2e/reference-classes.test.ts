// @module-tag P-156

import { Client as ClientV2, InMemoryTransport as InMemoryV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as InMemoryV1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ColabProxyClient, ColabTransport, ColabWebSocketServer, UI_CONNECTION_TIMEOUT } from '../../src/reference/index.js';
import { Bridge } from '../support/bridge.js';
import { hangsAfterMs } from '../support/hangs-after.js';
import { RawPage } from '../support/raw-page.js';
import { soonerThanNeverMs } from '../support/sooner-than-never.js';

const openTool = 'open_colab_browser_connection';

async function openServer(): Promise<ColabWebSocketServer> {
  return new ColabWebSocketServer().start();
}

afterEach(() => {
  vi.useRealTimers();
});

describe('McpHost', () => {
  it("gives the proxy's instructions to agents of both SDKs, and ends their sessions", async () => {
    await using bridge = await Bridge.open();
    const v1 = new ClientV1({ name: 'v1', version: '1' });
    const [v1Here, v1There] = InMemoryV1.createLinkedPair();
    await Promise.all([bridge.host.connect(v1There), v1.connect(v1Here)]);
    const v2 = new ClientV2({ name: 'v2', version: '1' });
    const [v2Here, v2There] = InMemoryV2.createLinkedPair();
    await Promise.all([bridge.host.connect(v2There), v2.connect(v2Here)]);
    for (const client of [v1, v2]) {
      expect(client.getInstructions()).toBe(
        "Connects to a user's Google Colab session in a browser and allows for interactions with their Google Colab notebook",
      );
      expect((await client.listTools()).tools[0]?.name).toBe(openTool);
    }
    await using _page = await RawPage.serve(bridge.address);
    for (const client of [v1, v2]) {
      expect(await client.callTool({ name: openTool, arguments: {} })).toMatchObject({ structuredContent: { result: true } });
    }
    const closed = Promise.all([v1, v2].map((client) => new Promise<void>((resolve) => (client.onclose = resolve))));
    bridge.host.close();
    bridge.host.close();
    await closed;
  });
});

describe('ColabTransport', () => {
  it('gives a session over the streams of the server, with the options forwarded', async () => {
    await using wss = await openServer();
    await using transport = new ColabTransport(wss);
    const notified: string[] = [];
    // Before any page: what is sent waits for it, and so does what it says first.
    await using session = await transport.connectSession({
      clientInfo: { name: 'mine', version: '9' },
      capabilities: { roots: {} },
      protocolVersion: '2024-11-05',
      onNotification: ({ method }) => notified.push(method),
    });
    const initialized = session.initialize();
    await using page = await RawPage.serve({ ...wss, port: wss.port, token: wss.token, first: ['{"method":"notifications/early"}'] });
    expect(await initialized).toMatchObject({ protocolVersion: '2024-11-05', serverInfo: { name: 'ColabMCP' } });
    expect(session.initializeResult).toBe(await initialized);
    expect(page.messages[0]?.params).toEqual({
      protocolVersion: '2024-11-05',
      capabilities: { roots: {} },
      clientInfo: { name: 'mine', version: '9' },
    });
    expect(notified).toEqual(['notifications/early']);
    expect((await session.listTools()).tools).toHaveLength(7);
    await session.close();
    await session.close();
    expect(await page.closed).toBe(1000);
    await expect(session.listTools()).rejects.toMatchObject({ code: 'closed' });
  });

  it('gives up after handshakeMs, and after callTimeoutMs', async () => {
    await using wss = await openServer();
    await using session = await new ColabTransport(wss).connectSession({ handshakeMs: 50, callTimeoutMs: 50 });
    await expect(session.initialize()).rejects.toMatchObject({ code: 'handshake_failed' });
    await expect(session.callTool('x')).rejects.toMatchObject({ code: 'timeout' });
  });

  it('leaves sessions of a server that closes without a page', async () => {
    const wss = await openServer();
    const session = await new ColabTransport(wss).connectSession();
    const initialized = session.initialize();
    await wss.close();
    await expect(initialized).rejects.toMatchObject({ code: 'handshake_failed', cause: { code: 'closed' } });
  });
});

describe('ColabWebSocketServer', () => {
  it('has new streams for each connection', async () => {
    await using wss = await openServer();
    const streams = new Set<unknown>();
    for (let load = 0; load < 3; load++) {
      streams.add(wss.readStream).add(wss.writeStream);
      expect(wss.connectionLive.isSet()).toBe(false);
      const page = await RawPage.connect({ port: wss.port, token: wss.token });
      await wss.connectionLive.wait();
      page.send({ jsonrpc: '2.0', method: `hello ${load}` });
      const { readStream } = wss;
      const [first] = [await readStream[Symbol.asyncIterator]().next()];
      expect(first.value).toEqual({ jsonrpc: '2.0', method: `hello ${load}` });
      wss.writeStream.send({ to: 'the page' });
      await page.until((messages) => messages.length === 1);
      expect(page.messages).toEqual([{ to: 'the page' }]);
      page.socket.terminate();
      await vi.waitUntil(() => !wss.connectionLive.isSet(), { timeout: hangsAfterMs });
      expect(readStream.closed).toBe(true);
    }
    expect(streams.size).toBe(6);
  });

  async function drain(stream: AsyncIterable<unknown>): Promise<unknown[]> {
    const items: unknown[] = [];
    for await (const item of stream) items.push(item);
    return items;
  }

  /** Whether both streams are closed, and whoever begins to read one of them only now comes to its end. */
  async function expectEnded({ readStream, writeStream }: ColabWebSocketServer): Promise<void> {
    for (const stream of [readStream, writeStream]) {
      expect(stream.closed).toBe(true);
      expect(await drain(stream)).toEqual([]);
    }
  }

  it('closes both streams when it closes: before its start, without a page, with one, and after one', async () => {
    const never = new ColabWebSocketServer();
    await never.close();
    await expectEnded(never);

    const empty = await openServer();
    const reading = Promise.all([empty.readStream, empty.writeStream].map((stream) => drain(stream)));
    await empty.close();
    expect(await reading).toEqual([[], []]);

    for (const leaves of [false, true]) {
      const wss = await openServer();
      const page = await RawPage.connect({ port: wss.port, token: wss.token, first: ['{"method":"hello"}'] });
      await wss.connectionLive.wait();
      const heard = drain(wss.readStream);
      if (leaves) await page.close();
      if (leaves) await vi.waitUntil(() => !wss.connectionLive.isSet(), { timeout: hangsAfterMs });
      await wss.close();
      expect(await heard).toEqual([{ method: 'hello' }]);
      await expectEnded(wss);
    }
  });

  it('ends its streams with the cleanup of the session proxy, whether or not a page is there', async () => {
    for (const comes of [false, true]) {
      const bridge = await Bridge.open();
      const { wss } = bridge;
      if (comes) await RawPage.serve(bridge.address);
      const { readStream, writeStream } = wss;
      await bridge.session.cleanup();
      expect([readStream.closed, writeStream.closed]).toEqual([true, true]);
      await expectEnded(wss);
    }
  });
});

describe('ColabProxyClient', () => {
  it('is connected only after the handshake, and hands out the live client only then', async () => {
    await using wss = await openServer();
    await using client = new ColabProxyClient(wss).start();
    expect(client.start()).toBe(client);
    const expectStub = async (): Promise<void> => {
      expect(client.isConnected()).toBe(false);
      expect(client.clientFactory()).toBe(client.stubbedMcpClient);
      expect(client.proxyMcpClient).toBeUndefined();
      expect(await client.clientFactory().listTools()).toEqual({ tools: [] });
      expect(await client.clientFactory().listResources()).toEqual({ resources: [] });
      expect(await client.clientFactory().listPrompts()).toEqual({ prompts: [] });
      await expect(client.clientFactory().callTool('get_cells')).rejects.toMatchObject({ code: 'unknown_tool' });
    };
    await expectStub();
    let answerInitialize = (): void => {};
    const asked = new Promise<void>((resolve) => {
      answerInitialize = resolve;
    });
    const page = await RawPage.connect({
      port: wss.port,
      token: wss.token,
      answer: async ({ method }) => {
        if (method === 'initialize') await asked;
        return undefined;
      },
    });
    await page.message('initialize');
    expect(wss.connectionLive.isSet()).toBe(true);
    await expectStub();
    answerInitialize();
    await client.awaitProxyConnection();
    expect(client.isConnected()).toBe(true);
    expect(client.clientFactory()).toBe(client.proxyMcpClient);
    await page.close();
    await vi.waitUntil(() => !client.isConnected(), { timeout: hangsAfterMs });
    await expectStub();
  });

  it('serves a page that came before it was started', async () => {
    await using wss = await openServer();
    const early = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
    await using page = await RawPage.connect({ port: wss.port, token: wss.token, first: [early] });
    await wss.connectionLive.wait();
    // When this is refused, the frame before it has been read.
    await RawPage.connect({ port: wss.port, token: wss.token }).then(({ closed }) => closed);
    await using client = new ColabProxyClient(wss).start();
    const notified = vi.fn();
    client.notified.add(notified);
    await client.awaitProxyConnection();
    expect(client.isConnected()).toBe(true);
    expect(page.messages[0]?.method).toBe('initialize');
    expect(notified).not.toHaveBeenCalled();
  });

  it('waits 60 s for a page, never throws, and goes on when one comes', async () => {
    expect(UI_CONNECTION_TIMEOUT).toBe(60);
    await using wss = await openServer();
    await using client = new ColabProxyClient(wss).start();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const done = vi.fn();
    const waiting = client.awaitProxyConnection().then(done);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(done).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await waiting;
    expect(client.isConnected()).toBe(false);
    vi.useRealTimers();

    const aborted = new AbortController();
    const other = client.awaitProxyConnection(60, aborted.signal);
    aborted.abort();
    await other;
    await client.awaitProxyConnection(0);
    const third = client.awaitProxyConnection();
    await using _page = await RawPage.serve({ port: wss.port, token: wss.token });
    await third;
    expect(client.isConnected()).toBe(true);
  });

  it('closed in the middle of a handshake, or while somebody waits, is closed', async () => {
    await using wss = await openServer();
    const client = new ColabProxyClient(wss).start();
    const page = await RawPage.connect({ port: wss.port, token: wss.token });
    const waiting = client.awaitProxyConnection();
    await client.close();
    await client.close();
    await waiting;
    await page.closed;
    expect(client.isConnected()).toBe(false);
    const start = performance.now();
    await client.awaitProxyConnection();
    expect(performance.now() - start).toBeLessThan(soonerThanNeverMs);
  });

  it('survives a session that cannot be made', async () => {
    await using wss = await openServer();
    const refused = new ColabProxyClient(wss, { connectSession: () => Promise.reject(new Error('not today')) }).start();
    await using page = await RawPage.connect({ port: wss.port, token: wss.token });
    await wss.connectionLive.wait();
    // A second reader of the same streams is a mistake, not a crash.
    const second = new ColabProxyClient(wss).start();
    const third = new ColabProxyClient(wss).start();
    await second.awaitProxyConnection();
    expect([refused, second, third].map((client) => client.isConnected())).toEqual([false, true, false]);
    expect(page.messages[0]?.method).toBe('initialize');
    await Promise.all([refused.close(), second.close(), third.close()]);
  });
});
