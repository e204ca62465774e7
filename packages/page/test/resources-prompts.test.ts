import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PageSession, PageSessionOptions } from '../src/index.js';
import { createNodePage } from './support/node-page.js';
import { type HubConnection, TestHub } from './support/test-hub.js';

describe('what a page offers besides tools', () => {
  let hub: TestHub;
  let connection: HubConnection;
  const sessions: PageSession[] = [];

  beforeEach(async () => {
    hub = await TestHub.open();
  });
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.disconnect();
    await hub.close();
  });

  const connect = async (options: Partial<PageSessionOptions>): Promise<PageSession> => {
    const session = createNodePage(options);
    sessions.push(session);
    expect(await session.connectManually(hub.entry)).toMatchObject({ status: 'connected' });
    connection = await hub.connection(0);
    return session;
  };

  it('offers resources, and tells of updates to who has subscribed', async () => {
    const resources = [{ uri: 'a:1', name: 'one', mimeType: 'text/plain', read: async () => 'first' }];
    const session = await connect({ resources: () => resources });
    expect(await connection.initialized).toMatchObject({ capabilities: { resources: { listChanged: true, subscribe: true } } });
    expect((await connection.request('resources/list')).result).toEqual({
      resources: [{ uri: 'a:1', name: 'one', mimeType: 'text/plain' }],
    });
    expect((await connection.request('resources/templates/list')).result).toEqual({ resourceTemplates: [] });
    expect((await connection.request('resources/read', { uri: 'a:1' })).result).toEqual({
      contents: [{ uri: 'a:1', mimeType: 'text/plain', text: 'first' }],
    });
    expect(await connection.request('resources/read', { uri: 'a:2' })).toMatchObject({ error: { code: -32602 } });

    resources.push({ uri: 'a:2', name: 'two', mimeType: 'text/plain', read: async () => 'second' });
    session.resourcesChanged();
    session.resourceUpdated('a:2');
    await connection.request('resources/subscribe', { uri: 'a:2' });
    session.resourceUpdated('a:2');
    await connection.request('resources/unsubscribe', { uri: 'a:2' });
    session.resourceUpdated('a:2');
    await connection.request('ping');
    const told = connection.received.filter(({ method }) => String(method).startsWith('notifications/resources/'));
    expect(told.map(({ method, params }) => [method, params])).toEqual([
      ['notifications/resources/list_changed', undefined],
      ['notifications/resources/updated', { uri: 'a:2' }],
    ]);
  });

  it('reads resources by template, but first those that are listed', async () => {
    await connect({
      resources: [{ uri: 'note://1', name: 'one', read: () => 'listed' }],
      resourceTemplates: [
        { uriTemplate: 'note://{id}', name: 'notes', mimeType: 'text/plain', read: (uri, { id }) => `${uri} is ${id}` },
        { uriTemplate: 'bad://{?query}', name: 'bad', read: () => '' },
      ],
    });
    expect((await connection.request('resources/templates/list')).result).toEqual({
      resourceTemplates: [
        { uriTemplate: 'note://{id}', name: 'notes', mimeType: 'text/plain' },
        { uriTemplate: 'bad://{?query}', name: 'bad' },
      ],
    });
    expect((await connection.request('resources/read', { uri: 'note://1' })).result).toMatchObject({ contents: [{ text: 'listed' }] });
    expect((await connection.request('resources/read', { uri: 'note://a%2Fb' })).result).toEqual({
      contents: [{ uri: 'note://a%2Fb', mimeType: 'text/plain', text: 'note://a%2Fb is a/b' }],
    });
    expect(await connection.request('resources/read', { uri: 'bad://x' })).toMatchObject({ error: { code: -32603 } });
  });

  it('offers templates without a list of resources', async () => {
    await connect({ resourceTemplates: [{ uriTemplate: 'note://{id}', name: 'notes', read: () => 'x' }] });
    expect(await connection.initialized).toMatchObject({ capabilities: { resources: { listChanged: true, subscribe: true } } });
    expect((await connection.request('resources/list')).result).toEqual({ resources: [] });
    expect(await connection.request('resources/read', { uri: 'other://1' })).toMatchObject({
      error: { code: -32602, message: 'The page has no resource "other://1".' },
    });
  });

  it('completes the arguments of prompts and templates', async () => {
    const words = (value: string, { book = 'none' }: Record<string, string>): string[] => [`${value} of ${book}`];
    await connect({
      prompts: [{ name: 'greet', arguments: [{ name: 'who' }], complete: { who: words }, get: () => 'x' }],
      resourceTemplates: [
        {
          uriTemplate: 'note://{id}',
          name: 'notes',
          complete: { id: async () => Array.from({ length: 101 }, (_, at) => String(at)) },
          read: () => '',
        },
      ],
    });
    expect(await connection.initialized).toMatchObject({ capabilities: { completions: {} } });
    const ask = async (ref: JsonObject, argument: JsonObject, context?: JsonObject): Promise<unknown> => {
      const { result, error } = await connection.request('completion/complete', { ref, argument, ...(context && { context }) });
      return (result as JsonObject | undefined)?.completion ?? error;
    };
    const greet = { type: 'ref/prompt', name: 'greet' };
    expect(await ask(greet, { name: 'who', value: 'A' }, { arguments: { book: 'B' } })).toEqual({
      values: ['A of B'],
      total: 1,
      hasMore: false,
    });
    expect(await ask(greet, { name: 'toString', value: '' })).toEqual({ values: [], total: 0, hasMore: false });
    expect(await ask({ type: 'ref/resource', uri: 'note://{id}' }, { name: 'id', value: '' })).toMatchObject({ total: 101, hasMore: true });
    expect(await ask({ type: 'ref/prompt', name: 'other' }, { name: 'who', value: '' })).toMatchObject({ code: -32602 });
    expect((await connection.request('prompts/list')).result).toEqual({ prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }] });
  });

  it('offers prompts', async () => {
    const session = await connect({
      prompts: [{ name: 'greet', arguments: [{ name: 'who', required: true }], get: ({ who }) => `Greet ${who}.` }],
    });
    expect((await connection.request('prompts/list')).result).toEqual({
      prompts: [{ name: 'greet', arguments: [{ name: 'who', required: true }] }],
    });
    expect((await connection.request('prompts/get', { name: 'greet', arguments: { who: 'Ada' } })).result).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'Greet Ada.' } }],
    });
    expect(await connection.request('prompts/get', { name: 'greet' })).toMatchObject({ error: { code: -32602 } });
    session.promptsChanged();
    await connection.notification('notifications/prompts/list_changed');
  });
});
