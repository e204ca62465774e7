import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PageServer } from '../../src/notebooks/pages/page-server.js';
import { createContext } from '../support/create-context.js';
import { keepToken, pageOrigin as origin, ownPage, PageServers, tokenOffered } from '../support/page-servers.js';
import { statusOf } from '../support/raw-handshake.js';
import { RawPage } from '../support/raw-page.js';

const statusBy = ({ port }: PageServer, token: string): Promise<number> => statusOf({ port, token, headers: { Origin: origin } });

/** A page of one's own that comes, keeps the token that it is offered, and goes. Gives that token. */
async function visit(server: PageServer, token: string): Promise<string> {
  const page = await RawPage.serve({ port: server.port, token, origin, answer: keepToken });
  const offered = (await tokenOffered(page)) ?? '';
  await page.close();
  return offered;
}

describe('the slots of pages', () => {
  let servers: PageServers;

  beforeEach(() => {
    servers = new PageServers();
  });
  afterEach(() => servers[Symbol.asyncDispose]());

  it('let pages come back to the next process, on the same port, with their tools, and the file opens nothing', {
    tags: ['P-286'],
  }, async () => {
    const first = await servers.open();
    const colab = await first.open({ key: 'c', profile: 'colab' });
    const own = await first.open(ownPage('p'));
    const tokens = [colab.slot.token, own.slot.token];
    const resumed = await visit(first, own.slot.token);
    colab.slot.rememberedTools = [{ name: 'remembered', inputSchema: { type: 'object' } }];
    await using open = await RawPage.serve({ port: first.port, token: colab.slot.token });
    await first.close();
    expect(await open.closed).toBe(1001);

    const text = readFileSync(servers.file, 'utf8');
    expect(statSync(servers.file).mode & 0o777).toBe(0o600);
    for (const token of [...tokens, resumed]) expect(text).not.toContain(token);
    const [digest] = (JSON.parse(text) as { slots: { tokens: { lasting: string[] } }[] }).slots[0]?.tokens.lasting ?? [];

    const second = await servers.open();
    expect(second.port).toBe(first.port);
    // What stands in the file is no token.
    expect(await statusBy(second, digest ?? '')).toBe(403);
    expect(await statusBy(second, tokens[1] ?? '')).toBe(403);
    await using back = await RawPage.serve({ port: second.port, token: tokens[0] ?? '' });
    expect(back.received.join()).not.toContain('resume_token');
    await visit(second, resumed);
    const again = await second.open({ key: 'c', profile: 'colab' });
    expect(again.slot.rememberedTools?.map(({ name }) => name)).toEqual(['remembered']);
    // What is opened from now on has a token of its own.
    expect(again.slot.token).not.toBe(tokens[0]);
  });

  it('end with a resume token that was used, and with the slot, also for the next process', { tags: ['P-288'] }, async () => {
    const first = await servers.open();
    const { slot } = await first.open(ownPage('p'));
    const replayed = await visit(first, slot.token);
    const good = await visit(first, replayed);
    await first.forget('p');
    expect([await statusBy(first, good), await statusBy(first, replayed)]).toEqual([403, 403]);
    await first.close();
    const second = await servers.open();
    expect(second.notebooks).toEqual([]);
    // Nobody's origin is allowed any more, which is found before the token is looked at.
    expect(await statusBy(second, good)).toBe(403);
  });

  it('refuse a resume token that was replayed after a restart', { tags: ['P-288'] }, async () => {
    const first = await servers.open();
    const { slot } = await first.open(ownPage('p'));
    const used = await visit(first, slot.token);
    const next = await visit(first, used);
    await first.close();
    const second = await servers.open();
    expect(await statusBy(second, used)).toBe(403);
    expect(await visit(second, next)).toMatch(/^[\w-]{43}$/);
  });

  it('take one of two pages with one token', async () => {
    const server = await servers.open();
    const { slot } = await server.open(ownPage('p'));
    await using first = await RawPage.serve({ port: server.port, token: slot.token, origin });
    await using second = await RawPage.connect({ port: server.port, token: slot.token, origin });
    expect(await second.closed).toBe(1013);
    expect(first.socket.readyState).toBe(1);
  });

  it('keep to a few tokens for a page that comes back 1,000 times, and to one file', {
    tags: ['deep', 'P-290'],
    timeout: 120_000,
  }, async () => {
    const server = await servers.open();
    let { token } = (await server.open(ownPage('p'))).slot;
    for (let times = 0; times < 1000; times++) token = await visit(server, token);
    await server.close();
    const { slots } = JSON.parse(readFileSync(servers.file, 'utf8')) as { slots: { tokens: { passes: unknown[] } }[] };
    expect(slots[0]?.tokens.passes.length).toBeLessThanOrEqual(4);
    expect(await visit(await servers.open(), token)).not.toBe('');
  });

  it('are 200 at once, each with its own page, and all of them come back', { tags: ['deep', 'P-290'], timeout: 120_000 }, async () => {
    const first = await servers.open();
    const notebooks = await Promise.all(Array.from({ length: 200 }, (_, index) => first.open(ownPage(`p${index}`))));
    const answer = (index: number) => (request: JsonObject) =>
      request.method === 'tools/list'
        ? { result: { tools: [{ name: `own_${index}`, inputSchema: { type: 'object' } }] } }
        : keepToken(request);
    const dial = (port: number, tokens: readonly string[]): Promise<RawPage[]> =>
      Promise.all(tokens.map((token, index) => RawPage.serve({ port, token, origin, answer: answer(index) })));
    const pages = await dial(
      first.port,
      notebooks.map(({ slot }) => slot.token),
    );
    const tokens = await Promise.all(pages.map(async (page) => (await tokenOffered(page)) ?? ''));
    expect(new Set(tokens).size).toBe(200);
    await first.close();
    const second = await servers.open();
    const back = await dial(second.port, tokens);
    for (const [index, { provider }] of second.notebooks.entries()) {
      const { tools } = await provider.request('tools/list', {}, createContext('tools/list'));
      expect((tools as JsonObject[]).map(({ name }) => name)).toEqual([`own_${index}`]);
    }
    for (const page of back) await page.close();
  });

  it('are void when a stranger has the port, which agents are told', { tags: ['P-287'] }, async () => {
    const first = await servers.open();
    const { slot } = await first.open({ key: 'c', profile: 'colab' });
    const { port } = first;
    await first.close();
    const stranger = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve) => stranger.once('listening', resolve));
    const second = await servers.open();
    stranger.close();
    expect(second.port).not.toBe(port);
    expect(second.problem).toContain(`The port ${port}`);
    expect(await statusOf({ port: second.port, token: slot.token })).toBe(403);
    const [restored] = second.notebooks;
    expect(restored?.nextStep).toContain('their tokens have ended');
    expect(restored?.nextStep).toContain('Call "open"');
  });

  it('are not kept, and say so, in a file that others could have written, and leave it as it is', { tags: ['P-291'] }, async () => {
    const first = await servers.open();
    await first.open(ownPage('p'));
    await first.close();
    chmodSync(servers.file, 0o644);
    const before = readFileSync(servers.file, 'utf8');
    const second = await servers.open();
    const { slot } = await second.open(ownPage('p'));
    await visit(second, slot.token);
    expect(second.problem).toContain('open to other users');
    expect(readFileSync(servers.file, 'utf8')).toBe(before);
  });

  it.each([
    ['no JSON', '{'],
    ['nothing', ''],
    ['another format', '{"format":9,"port":1,"slots":[]}'],
    ['a port that is none', '{"format":1,"port":70000,"slots":[]}'],
    ['slots that are none', '{"format":1,"port":4,"slots":[null,1,{"key":"x"}]}'.replace('4', '40404')],
    [
      'digests that are none',
      '{"format":1,"port":40405,"slots":[{"key":"x","profile":"page","url":"https://a.example/","allowOrigins":["https://a.example"],"tokens":{"passes":[{"token":""}],"lasting":[]}}]}',
    ],
    [
      'origins that are none',
      '{"format":1,"port":40406,"slots":[{"key":"x","profile":"page","url":"https://a.example/","allowOrigins":["null","*"],"tokens":{"passes":[],"lasting":[]}}]}',
    ],
    [
      'a URL that starts a program',
      '{"format":1,"port":40407,"slots":[{"key":"x","profile":"page","url":"file:///bin/sh","allowOrigins":[],"tokens":{"passes":[],"lasting":[]}}]}',
    ],
  ])('begin anew where the file lies: %s', { tags: ['P-291'] }, async (_what, text) => {
    writeFileSync(servers.file, text, { mode: 0o600 });
    const server = await servers.open();
    expect(server.notebooks).toEqual([]);
    const { slot } = await server.open(ownPage('p'));
    expect(await visit(server, slot.token)).not.toBe('');
  });

  it('serve pages where nothing can be written, which keep the token that they have', { tags: ['P-291'] }, async () => {
    const server = await servers.open();
    // As good as a full disk, for any user: what is to be replaced is a folder.
    rmSync(servers.file, { force: true });
    mkdirSync(`${servers.file}/in`, { recursive: true });
    const { slot } = await server.open(ownPage('p'));
    const { token } = slot;
    await using page = await RawPage.serve({ port: server.port, token, origin, answer: keepToken });
    expect(await tokenOffered(page)).toBeUndefined();
    await page.close();
    expect(await statusBy(server, token)).toBe(101);
    expect(servers.warnings.filter((text) => text.includes('not kept on disk'))).toHaveLength(1);
  });

  it('answer calls in flight at once when the page goes, with the cell to look at, and run nothing twice', {
    tags: ['P-040'],
  }, async () => {
    const server = await servers.open();
    const { slot, provider } = await server.open({ key: 'c', profile: 'colab' });
    await using page = await RawPage.serve({
      port: server.port,
      token: slot.token,
      answer: ({ method }) => (method === 'tools/call' ? new Promise(() => {}) : undefined),
    });
    const call = provider.request('tools/call', { name: 'run_code_cell', arguments: { cellId: 'c7' } }, createContext('tools/call'));
    await page.message('tools/call');
    page.socket.terminate();
    expect(JSON.stringify(await call)).toContain('outcome is unknown and it was not repeated. Look at the cell \\"c7\\"');
    await using back = await RawPage.serve({ port: server.port, token: slot.token });
    expect(back.messages.filter(({ method }) => method === 'tools/call')).toEqual([]);
  });
});
