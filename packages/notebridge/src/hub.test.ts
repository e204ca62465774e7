import { toTextResult } from '@notebridge/protocol/core/mcp';
import { MemoryProvider } from '@notebridge/protocol/core/memory-provider';
import { answer, type Middleware, type MiddlewareHost } from '@notebridge/protocol/core/middleware';
import { owner } from '@notebridge/protocol/core/principal';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { createContext } from '../test/support/create-context.js';
import { Hub } from './hub.js';

const tool = (name: string, text = name) => ({ name, inputSchema: {}, run: async () => toTextResult(text) });

function request(hub: Hub, method: string, message: JsonObject = {}): Promise<JsonObject> {
  return hub.request(createContext(method, message));
}

function heardFrom(hub: Hub): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  hub.events.add((event) => events.push(event));
  return events;
}

describe('Hub: requests', () => {
  it('go through the chain to the provider', async () => {
    const hub = new Hub();
    hub.addProvider(new MemoryProvider({ tools: [tool('x')] }));
    hub.addMiddleware({ onCallTool: async (context, callNext) => ({ ...(await callNext(context)), _meta: { seen: true } }) });
    expect(await request(hub, 'tools/call', { name: 'x' })).toEqual({ ...toTextResult('x'), _meta: { seen: true } });
  });

  it('reach the provider with the params that a middleware gave them', async () => {
    const hub = new Hub();
    hub.addProvider(new MemoryProvider({ tools: [tool('x'), tool('y')] }));
    hub.addMiddleware({ onCallTool: (context, callNext) => callNext(context.copy({ message: { ...context.message, name: 'y' } })) });
    expect(await request(hub, 'tools/call', { name: 'x' })).toEqual(toTextResult('y'));
  });

  it('a request that a door answers itself goes through the chain as well, and no further', async () => {
    const hub = new Hub();
    const seen: string[] = [];
    hub.addMiddleware({
      onRequest: (context, callNext) => {
        seen.push(context.method);
        return callNext(context);
      },
    });
    expect(await hub.request(createContext('ping'), async () => ({ pong: true }))).toEqual({ pong: true });
    expect(seen).toEqual(['ping']);
  });

  it('use the middlewares that there are when they come, the first added outermost', async () => {
    const hub = new Hub();
    const order: string[] = [];
    const named = (name: string): Middleware => ({
      onMessage: (context, callNext) => {
        order.push(name);
        return callNext(context);
      },
    });
    hub.addMiddleware(named('a'));
    await request(hub, 'tools/list');
    hub.addMiddleware(named('b'));
    await request(hub, 'tools/list');
    expect(order).toEqual(['a', 'a', 'b']);
  });
});

describe('Hub: several providers', () => {
  it('are offered together, the first mounted keeping a name that two have', async () => {
    const warnings: string[] = [];
    const ignore = (): void => {};
    const hub = new Hub({ logger: { debug: ignore, info: ignore, warn: (text) => warnings.push(text), error: ignore } });
    hub.addProvider(new MemoryProvider({ name: 'a', tools: [tool('x', 'a')] }));
    hub.addProvider(new MemoryProvider({ name: 'b', tools: [tool('x', 'b'), tool('y', 'b')] }));
    expect((await request(hub, 'tools/list')).tools).toMatchObject([{ name: 'x' }, { name: 'y' }]);
    expect(warnings).toEqual(['"x" of "b" is hidden: "a" has one of the same name.']);
    expect(await request(hub, 'tools/call', { name: 'x' })).toEqual(toTextResult('a'));
  });

  it('are asked again after one has changed', async () => {
    const hub = new Hub();
    const b = new MemoryProvider({ tools: [] });
    hub.addProvider(new MemoryProvider());
    hub.addProvider(b);
    await request(hub, 'tools/list');
    b.setTools([tool('new')]);
    expect(await request(hub, 'tools/call', { name: 'new' })).toEqual(toTextResult('new'));
  });

  it('give agents their instructions after those of the hub', () => {
    const hub = new Hub({ instructions: 'of the hub' });
    expect(new Hub().instructionsFor(owner)).toBeUndefined();
    hub.addProvider(new MemoryProvider({ instructions: 'of a' }));
    hub.addProvider(new MemoryProvider());
    hub.addProvider(new MemoryProvider({ instructions: 'of c' }));
    expect(hub.instructionsFor(owner)).toBe('of the hub\n\nof a\n\nof c');
  });
});

describe('Hub: notifications', () => {
  it('a notification of an agent goes through the chain to every provider, params and all', async () => {
    const taken: unknown[] = [];
    const listening = (name: string): Provider => ({
      name,
      request: async () => ({}),
      notify: (method, params) => taken.push([name, method, params]),
      subscribe: () => () => {},
    });
    const hub = new Hub();
    hub.addProvider(listening('a'));
    hub.addProvider(listening('b'));
    hub.addMiddleware({
      onNotification: (context, callNext) => callNext(context.copy({ message: { ...context.message, seen: true } })),
    });
    await hub.notify(createContext('notifications/roots/list_changed', { x: 1 }));
    expect(taken).toEqual([
      ['a', 'notifications/roots/list_changed', { x: 1, seen: true }],
      ['b', 'notifications/roots/list_changed', { x: 1, seen: true }],
    ]);
  });

  it('can be kept by a middleware', async () => {
    const taken: string[] = [];
    const hub = new Hub();
    hub.addProvider({ name: 'a', request: async () => ({}), notify: (method) => taken.push(method), subscribe: () => () => {} });
    hub.addMiddleware({ onNotification: async () => answer({}) });
    await hub.notify(createContext('notifications/x'));
    expect(taken).toEqual([]);
  });

  it('a notification of a provider or a middleware reaches who listens, until the hub is closed', () => {
    const hub = new Hub();
    const provider = new MemoryProvider();
    let host: MiddlewareHost | undefined;
    let closed = 0;
    hub.addProvider(provider);
    hub.addMiddleware({
      onAdded: (given) => {
        host = given;
        return () => void closed++;
      },
    });
    const events = heardFrom(hub);
    provider.setTools([]);
    host?.sendToolListChanged();
    hub.close();
    hub.close();
    provider.setTools([]);
    expect(events).toEqual(Array(2).fill({ method: 'notifications/tools/list_changed' }));
    expect(closed).toBe(1);
  });
});
