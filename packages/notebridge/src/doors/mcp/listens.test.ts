import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { Listens } from './listens.js';

const idKey = 'io.modelcontextprotocol/subscriptionId';
const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

describe('Listens', () => {
  it('acknowledges what it honours, before anything else', () => {
    const { listens, sent } = open();
    const asked = { ...all, promptsListChanged: 'yes', xListChanged: true, resourceSubscriptions: ['a:b', 7, 'a:b', null] };
    void listens.serve(1, { notifications: asked }, new Cancellation());
    const honoured = { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['a:b'] };
    expect(sent).toEqual([['notifications/subscriptions/acknowledged', { notifications: honoured, _meta: { [idKey]: 1 } }]]);
  });

  it.each([[undefined], [null], [[]], ['x']])('refuses notifications that are %j', async (notifications) => {
    const { listens, sent } = open();
    await expect(listens.serve(1, { notifications }, new Cancellation())).rejects.toThrow('"notifications" must be an object');
    expect(sent).toEqual([]);
  });

  it('sends each listen what it asked for, and nothing else', () => {
    const { listens, sent } = open();
    void listens.serve('t', { notifications: { toolsListChanged: true } }, new Cancellation());
    void listens.serve(2, { notifications: { promptsListChanged: true, resourceSubscriptions: ['a:b'] } }, new Cancellation());
    sent.length = 0;
    listens.notify({ method: 'notifications/tools/list_changed', params: { x: 1, _meta: { y: 2 } } });
    listens.notify({ method: 'notifications/prompts/list_changed' });
    listens.notify({ method: 'notifications/resources/list_changed' });
    listens.notify({ method: 'notifications/resources/updated', params: { uri: 'a:b' } });
    listens.notify({ method: 'notifications/resources/updated', params: { uri: 'a:c' } });
    listens.notify({ method: 'notifications/message', params: { level: 'error' } });
    listens.notify({ method: '__proto__' });
    expect(sent).toEqual([
      ['notifications/tools/list_changed', { x: 1, _meta: { y: 2, [idKey]: 't' } }],
      ['notifications/prompts/list_changed', { _meta: { [idKey]: 2 } }],
      ['notifications/resources/updated', { uri: 'a:b', _meta: { [idKey]: 2 } }],
    ]);
  });

  it('answers when ended, with its id, once', async () => {
    const { listens } = open();
    const one = listens.serve('1', { notifications: all }, new Cancellation());
    const two = listens.serve(1, { notifications: all }, new Cancellation());
    listens.endAll();
    listens.endAll();
    expect(await one).toEqual({ _meta: { [idKey]: '1' } });
    expect(await two).toEqual({ _meta: { [idKey]: 1 } });
  });

  it('is silent after its cancellation, and its id is free', async () => {
    const { listens, sent } = open();
    const call = new Cancellation();
    void listens.serve(1, { notifications: all }, call);
    await expect(listens.serve(1, { notifications: all }, new Cancellation())).rejects.toThrow('open already');
    call.cancel('enough');
    sent.length = 0;
    listens.notify({ method: 'notifications/tools/list_changed' });
    expect(sent).toEqual([]);
    void listens.serve(1, { notifications: all }, new Cancellation());
    expect(sent).toHaveLength(1);
  });

  it('opens so many and no more', async () => {
    const { listens } = open();
    for (let id = 0; id < 1024; id++) void listens.serve(id, { notifications: all }, new Cancellation());
    await expect(listens.serve('more', { notifications: all }, new Cancellation())).rejects.toThrow('1024 listens are open');
  });

  it('watches a resource from the first listen that names it to the last', () => {
    const { listens, watched } = open();
    const calls = [new Cancellation(), new Cancellation()] as const;
    void listens.serve(1, { notifications: { resourceSubscriptions: ['a', 'b'] } }, calls[0]);
    void listens.serve(2, { notifications: { resourceSubscriptions: ['b'] } }, calls[1]);
    expect(watched).toEqual(['+a', '+b']);
    calls[0].cancel('enough');
    expect(watched).toEqual(['+a', '+b', '-a']);
    listens.endAll();
    calls[1].cancel('late');
    expect(watched).toEqual(['+a', '+b', '-a', '-b']);
  });
});

function open(): { listens: Listens; sent: [string, JsonObject][]; watched: string[] } {
  const sent: [string, JsonObject][] = [];
  const watched: string[] = [];
  const listens = new Listens({
    notify: (method, params) => sent.push([method, params]),
    watchResource: (uri) => {
      watched.push(`+${uri}`);
      return () => watched.push(`-${uri}`);
    },
  });
  return { listens, sent, watched };
}
