// @module-tag P-156

import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answer, type Middleware } from '../../src/index.js';
import {
  ColabProxyClient,
  ColabProxyMiddleware,
  ColabSessionProxy,
  ColabWebSocketServer,
  checkSessionProxyTool,
  checkSessionProxyToolFn,
  McpHost,
  PageOpener,
  ToolInjectionMiddleware,
} from '../../src/reference/index.js';
import { Bridge } from '../support/bridge.js';
import { hangsAfterMs } from '../support/hangs-after.js';
import { RawPage } from '../support/raw-page.js';

const openTool = 'open_colab_browser_connection';

function contextOf(method: string, message: JsonObject, notify: (method: string) => void = () => {}): RequestContext {
  const caller = { sessionId: 's', door: 'library', era: 'legacy', clientInfo: undefined } as const;
  return new RequestContext({ method, type: 'request', message, callId: 'c', caller, cancellation: new Cancellation(), notify });
}

async function openServer(): Promise<ColabWebSocketServer> {
  return new ColabWebSocketServer().start();
}

afterEach(() => {
  vi.useRealTimers();
});

describe('ColabProxyMiddleware', () => {
  it('tells every message of the connection, under the keys of the reference', async () => {
    await using bridge = await Bridge.open();
    const seen: unknown[] = [];
    const watcher: Middleware = {
      onMessage(context, callNext) {
        seen.push([context.method, ...['fe_connected', 'proxy_token', 'proxy_port'].map((key) => context.getState(key))]);
        return callNext(context);
      },
    };
    bridge.host.addMiddleware(watcher);
    const { token, port } = bridge.wss;
    await bridge.agent.request('tools/list');
    await using _page = await RawPage.serve(bridge.address);
    await bridge.agent.request('ping');
    await bridge.agent.request('tools/list');
    expect(seen).toEqual([
      ['tools/list', false, token, port],
      ['ping', true, token, port],
      ['tools/list', true, token, port],
    ]);
  });

  it('announces a change with the next message when no host was told of it, once', async () => {
    await using wss = await openServer();
    await using client = new ColabProxyClient(wss).start();
    const middleware = new ColabProxyMiddleware(client);
    const notify = vi.fn();
    const send = (): Promise<unknown> => middleware.onMessage(contextOf('ping', {}, notify), async () => answer({}));
    await send();
    expect([middleware.lastMessageConnected, notify.mock.calls]).toEqual([false, []]);
    const page = await RawPage.serve({ port: wss.port, token: wss.token });
    await client.awaitProxyConnection();
    await send();
    await send();
    expect([middleware.lastMessageConnected, notify.mock.calls]).toEqual([true, [['notifications/tools/list_changed']]]);
    await page.close();
    await vi.waitUntil(() => !client.isConnected(), { timeout: hangsAfterMs });
    await send();
    await send();
    expect([middleware.lastMessageConnected, notify.mock.calls.length]).toEqual([false, 2]);
  });

  it('made when the page is there already starts as the connection is, and announces only what comes after', async () => {
    await using wss = await openServer();
    await using client = new ColabProxyClient(wss).start();
    const page = await RawPage.serve({ port: wss.port, token: wss.token });
    await client.awaitProxyConnection();
    const middleware = new ColabProxyMiddleware(client);
    expect(middleware.lastMessageConnected).toBe(true);
    const notify = vi.fn();
    const send = (): Promise<unknown> => middleware.onMessage(contextOf('ping', {}, notify), async () => answer({}));
    const sendToolListChanged = vi.fn();
    middleware.onAdded({ sendToolListChanged });
    await send();
    expect([notify.mock.calls, sendToolListChanged.mock.calls]).toEqual([[], []]);
    await page.close();
    await vi.waitUntil(() => !client.isConnected(), { timeout: hangsAfterMs });
    expect([middleware.lastMessageConnected, sendToolListChanged.mock.calls.length]).toEqual([false, 1]);
  });

  it('announces a change on the event to a host that it was added to, and then not with a message', async () => {
    await using bridge = await Bridge.open();
    const [middleware] = bridge.session.middleware as [ColabProxyMiddleware];
    const count = (): number => bridge.agent.named('notifications/tools/list_changed').length;
    await using _page = await RawPage.serve(bridge.address);
    await bridge.agent.until(() => count() === 1);
    expect(middleware.lastMessageConnected).toBe(true);
    await bridge.agent.request('ping');
    await bridge.agent.request('tools/list');
    expect(count()).toBe(1);
  });

  it('added when the page is there already tells nothing before the answer to initialize', async () => {
    const session = new ColabSessionProxy();
    await session.startProxyServer();
    await using _page = await RawPage.serve({ port: session.wss?.port ?? 0, token: session.wss?.token ?? '' });
    await using host = new McpHost();
    if (session.proxyServer !== null) host.mount(session.proxyServer);
    for (const middleware of session.middleware) host.addMiddleware(middleware);
    const notify = vi.fn();
    await host.request(contextOf('initialize', {}, notify), async () => ({}));
    expect(notify).not.toHaveBeenCalled();
    await session.cleanup();
  });

  it('leaves other tools alone', async () => {
    await using wss = await openServer();
    await using client = new ColabProxyClient(wss);
    const middleware = new ColabProxyMiddleware(client);
    const result = answer({ content: [{ type: 'text', text: 'mine', 'x-key': 1 }] });
    expect(await middleware.onCallTool(contextOf('tools/call', { name: 'other' }) as never, async () => result)).toBe(result);
  });

  it('waits 60 s by itself, as in the reference', async () => {
    await using wss = await openServer();
    await using client = new ColabProxyClient(wss).start();
    const middleware = new ColabProxyMiddleware(client);
    const notify = vi.fn();
    const context = contextOf('tools/call', { name: openTool, _meta: { progressToken: 1 } }, notify);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const result = middleware.onCallTool(context as never, async () => answer({ structuredContent: { result: false } }));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await result).toMatchObject({ structuredContent: { result: false } });
    expect(notify.mock.calls[1]).toMatchObject(['notifications/progress', { message: expect.stringContaining('will wait for 60s') }]);
  });
});

describe('checkSessionProxyTool', () => {
  it('is its function under a name: it reads the state, opens, and leaves the waiting to the middleware', async () => {
    const opened: string[] = [];
    const opener = new PageOpener({
      open: async (url) => {
        opened.push(url);
        return { opened: true, by: 'test' };
      },
    });
    const context = contextOf('tools/call', { name: openTool });
    context.setState('fe_connected', true);
    expect(await checkSessionProxyToolFn(context)).toBe(true);
    context.setState('fe_connected', false);
    context.setState('proxy_token', 'the-token');
    context.setState('proxy_port', 1234);
    context.setState('page_opener', opener);
    expect(await checkSessionProxyToolFn(context)).toBe(false);
    expect(await checkSessionProxyTool.run({}, context)).toMatchObject({ structuredContent: { result: false } });
    expect(opened[0]).toBe('https://colab.research.google.com/notebooks/empty.ipynb#mcpProxyToken=the-token&mcpProxyPort=1234');
    expect(opened).toHaveLength(2);
  });

  it('can be injected into any host', async () => {
    await using host = new McpHost();
    host.addMiddleware(new ToolInjectionMiddleware({ tools: [checkSessionProxyTool] }));
    expect(await host.request(contextOf('tools/list', {}))).toMatchObject({ tools: [{ name: openTool }] });
  });
});
