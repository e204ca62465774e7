import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, describe, expect, it } from 'vitest';
import { callTool, type PageHub, PageHubs, until } from '../../../test/support/page-hubs.js';
import { keepToken, pageOrigin } from '../../../test/support/page-servers.js';
import { type PageAnswer, RawPage } from '../../../test/support/raw-page.js';

const sayTool = { name: 'say', description: 'Says yes.', inputSchema: { type: 'object' } };

function answer(request: JsonObject): PageAnswer {
  if (request.method === 'tools/list') return { result: { tools: [sayTool] } };
  if (request.method === 'tools/call') return { result: { content: [{ type: 'text', text: 'yes' }] } };
  return keepToken(request);
}

describe('agents of other hubs, at the hub that has a page', () => {
  let cluster: PageHubs;
  let page: RawPage;
  afterEach(async () => {
    page.socket.terminate();
    await cluster[Symbol.asyncDispose]();
  });

  /** The page is at `a`, and one agent writes in it at a time. */
  const start = async (): Promise<{ a: PageHub; b: PageHub; c: PageHub; id: string }> => {
    cluster = new PageHubs();
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => cluster.add(name)));
    if (a === undefined || b === undefined || c === undefined) throw new Error('Not started.');
    await cluster.seen(3);
    const { id, page: opened } = await a.create();
    page = await RawPage.serve({ port: a.port, token: opened.slot.token, origin: pageOrigin, answer });
    return { a, b, c, id };
  };

  it('are not kept from it by what they were before that hub lost its lease', { tags: ['P-617'] }, async () => {
    const { a, b, c, id } = await start();
    const link = c.linkTo(id);
    expect(await callTool(link, 'say')).toBe('yes');
    const before = a.lease.self.id;
    a.link.setCut(true);
    await until(a.lease, () => a.lease.self.id !== before);
    a.link.setCut(false);
    await until(a.lease, () => a.lease.isHeld());
    for (const { lease } of [b, c]) await until(lease, () => lease.hubs().some((hub) => hub.id === a.lease.self.id));
    await c.told(() => c.claims.ownerOf(`page.${id}`)?.hub === a.lease.self.id);
    expect(await callTool(link, 'say')).toBe('yes');
    expect(await callTool(b.linkTo(id), 'say')).toContain('holds this notebook');
    await link.close();
  });

  it('agents that ask for a notebook that is not there push out none of those that use one', { tags: ['P-618'] }, async () => {
    const { b, c, id } = await start();
    const link = c.linkTo(id);
    expect(await callTool(link, 'say')).toBe('yes');
    const asked = await Promise.allSettled(Array.from({ length: 1001 }, () => b.linkTo('nb9@a').join()));
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(await callTool(b.linkTo(id), 'say')).toContain('holds this notebook');
    await link.close();
  });
});
