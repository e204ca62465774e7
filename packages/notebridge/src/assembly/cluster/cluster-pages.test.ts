import type { JsonObject } from '@notebridge/protocol/json';
import { createToken, digestOf } from '@notebridge/protocol/util/token';
import { afterEach, describe, expect, it } from 'vitest';
import { createContext } from '../../../test/support/create-context.js';
import { callOnce, callTool, PageHubs, until } from '../../../test/support/page-hubs.js';
import { keepToken, pageOrigin, tokenOffered } from '../../../test/support/page-servers.js';
import { type PageAnswer, RawPage } from '../../../test/support/raw-page.js';
import { colabProfile } from '../../notebooks/profiles/colab.js';

const countTool = { name: 'count', description: 'Counts.', inputSchema: { type: 'object' } };

/** By all tests, which end with them. */
const opened: RawPage[] = [];

/** A page of one's own that counts its calls over all of its connections. */
class CountingPage {
  calls = 0;
  /** By which it comes next. */
  token: string;
  page: RawPage | undefined;

  answer = (request: JsonObject): PageAnswer => {
    if (request.method === 'tools/list') return { result: { tools: [countTool] } };
    if (request.method === 'tools/call') return { result: { content: [{ type: 'text', text: String(++this.calls) }] } };
    return keepToken(request);
  };

  constructor(token: string) {
    this.token = token;
  }

  async dial({ port }: { port: number }): Promise<RawPage> {
    const { token, answer } = this;
    this.page = await RawPage.serve({ port, token, origin: pageOrigin, answer });
    opened.push(this.page);
    this.token = (await tokenOffered(this.page)) ?? token;
    return this.page;
  }
}

describe('a page of a cluster', () => {
  let cluster: PageHubs;
  afterEach(async () => {
    for (const page of opened.splice(0)) page.socket.terminate();
    await cluster[Symbol.asyncDispose]();
  });

  const start = async (speed?: number) => {
    cluster = new PageHubs(speed);
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => cluster.add(name)));
    if (a === undefined || b === undefined || c === undefined) throw new Error('Not started.');
    await cluster.seen(3);
    const held = await a.create();
    return { a, b, c, held, counting: new CountingPage(held.page.slot.token) };
  };

  it('goes on at another hub when its own is killed, with its token, its tools and its agents', { tags: ['P-565'] }, async () => {
    const { a, b, c, held, counting } = await start();
    const first = await counting.dial(a);
    const link = c.linkTo(held.id);
    await link.join();
    expect(await callTool(link, 'count')).toBe('1');
    await b.told(() => b.pages.knows(digestOf(counting.token)));
    await a.kill();
    expect(await first.closed).toBe(1001);
    await counting.dial(b);
    expect(b.pages.held.map(({ id }) => id)).toEqual([held.id]);
    expect(b.claims.ownerOf(`page.${held.id}`)).toMatchObject({ hub: b.lease.self.id, epoch: 2 });
    expect(await callTool(link, 'count')).toBe('2');
    expect(counting.calls).toBe(2);
  });

  it('goes on at another hub at once when its own is drained', { tags: ['P-565'] }, async () => {
    const { a, b, c, held, counting } = await start();
    const first = await counting.dial(a);
    const link = c.linkTo(held.id);
    expect(await callTool(link, 'count')).toBe('1');
    const drained = a.drain();
    expect(await first.closed).toBe(1001);
    await drained;
    await counting.dial(b);
    expect(b.claims.ownerOf(`page.${held.id}`)).toMatchObject({ hub: b.lease.self.id, epoch: 2 });
    expect(await callTool(link, 'count')).toBe('2');
  });

  it('goes on at another hub when only its connection broke, and comes back; a call that waits for it follows it, and is made once', {
    tags: ['deep', 'P-565'],
  }, async () => {
    const { a, b, c, held, counting } = await start();
    const agents = [c, a, b, b, a];
    const hubs = [a, b, c, a, b, c];
    let page = await counting.dial(a);
    for (const [round, agent] of agents.entries()) {
      expect(await callOnce(agent, held.id, 'count')).toBe(String(2 * round + 1));
      const link = agent.linkTo(held.id);
      await link.join();
      const here = hubs[round]?.pages.heldPage(held.id);
      page.socket.terminate();
      if (here === undefined) throw new Error('The page is not where it should be.');
      await until({ subscribe: (listener) => here.page.slot.disconnected.add(listener) }, () => !here.isConnected);
      const waiting = callTool(link, 'count');
      // It is at the hub that has the page, and so is the call before it.
      await link.request('tools/list', {}, createContext('tools/list'));
      page = await counting.dial(hubs[round + 1] ?? a);
      expect(await waiting).toBe(String(2 * round + 2));
      await link.close();
      expect([a, b, c].flatMap(({ pages }) => pages.held.map(({ id }) => id))).toEqual([held.id]);
    }
    expect(counting.calls).toBe(10);
  });

  it('is not pushed out by another that dials another hub, and is once it is half-dead', { tags: ['P-042'] }, async () => {
    const { a, b, c, counting } = await start(1);
    const living = await counting.dial(a);
    await b.told(() => b.pages.knows(digestOf(counting.token)));
    const second = await RawPage.connect({ port: b.port, token: counting.token, origin: pageOrigin });
    expect(await second.closed).toBe(1013);
    expect(b.pages.held).toEqual([]);
    living.socket.pause();
    await new CountingPage(counting.token).dial(c);
    expect(c.pages.held.length).toBe(1);
    living.socket.terminate();
  });

  it('is let in by no wrong token, from no other origin, and nobody else is asked because of one', { tags: ['P-568'] }, async () => {
    const { a, b, counting } = await start();
    await b.told(() => b.pages.knows(digestOf(counting.token)));
    const { messages, writes } = cluster.memory.counts;
    const refusalOf = async (options: { token: string; origin: string }): Promise<string> => {
      const { socket } = RawPage.dial({ port: b.port, ...options });
      return new Promise((resolve) => socket.once('error', (error) => resolve(error.message)));
    };
    expect(await refusalOf({ token: counting.token, origin: 'https://other.example' })).toContain('403');
    const wrong = { token: createToken(), origin: pageOrigin };
    const free = await Promise.all(Array.from({ length: 3 }, () => refusalOf(wrong)));
    expect(new Set(free)).toEqual(new Set(['Unexpected server response: 403']));
    const before = performance.now();
    await Promise.all(Array.from({ length: 6 }, () => refusalOf(wrong)));
    expect(performance.now() - before).toBeGreaterThan(1500);
    expect(b.pages.held).toEqual([]);
    expect(a.pages.held.length).toBe(1);
    expect(b.refused.map(({ why }) => why)).toEqual(['wrong_origin', ...Array.from({ length: 9 }, () => 'unknown')]);
    for (const { value } of cluster.memory.entries.values()) expect(value).not.toContain(counting.token);
    // Leases go on being renewed.
    expect(cluster.memory.counts.messages - messages).toBeLessThan(20);
    expect(cluster.memory.counts.writes - writes).toBeLessThan(100);
  });

  it('is asked to dial again while a hub cannot know who has it', { tags: ['deep', 'P-569'] }, async () => {
    const { b, held, counting } = await start();
    await b.told(() => b.pages.knows(digestOf(counting.token)));
    b.link.setCut(true);
    await until(b.lease, () => !b.lease.isHeld());
    const page = await RawPage.connect({ port: b.port, token: counting.token, origin: pageOrigin });
    expect(await page.closed).toBe(1012);
    const unknown = RawPage.dial({ port: b.port, token: createToken(), origin: pageOrigin });
    const error = await new Promise<Error>((resolve) => unknown.socket.once('error', resolve));
    expect(error.message).toContain('503');
    b.link.setCut(false);
    await until(b.lease, () => b.lease.isHeld());
    await counting.dial(b);
    expect(b.pages.held.map(({ id }) => id)).toEqual([held.id]);
  });

  it('is asked to dial again while its hub lets go of it, not told that its token is wrong', { tags: ['P-569'] }, async () => {
    const { a, held, counting } = await start();
    const query = { digest: digestOf(counting.token), origin: pageOrigin };
    expect(await a.pages.find(query)).toEqual({ slot: held.page.slot });
    await held.leave();
    expect(await a.pages.find(query)).toBe('later');
  });

  it('a page that nobody has is listed, and comes to the hub whose agent uses it', { tags: ['P-570'] }, async () => {
    const { a, b, c, held, counting } = await start();
    await counting.dial(a);
    await a.linkTo(held.id).request('tools/list', {}, createContext('tools/list'));
    await b.told(() => b.claims.recordOf(`page.${held.id}`)?.about.toolsKey !== undefined);
    await a.kill();
    await until(b.lease, () => b.lease.hubs().length === 2);
    await until(c.lease, () => c.lease.hubs().length === 2);
    const { entries } = await c.directory.list();
    expect(entries).toMatchObject([{ id: held.id, kind: 'page', state: 'waiting' }]);
    const link = c.linkTo(held.id);
    const { tools } = await link.request('tools/list', {}, createContext('tools/list'));
    expect((tools as { name: string }[]).map(({ name }) => name)).toContain('count');
    expect(c.pages.held.map(({ id }) => id)).toEqual([held.id]);
    const waiting = callTool(link, 'count');
    await counting.dial(b);
    expect(await waiting).toBe('1');
    expect(c.pages.held).toEqual([]);
  });

  it('a page that an agent opens by its URL is one of the cluster, and is opened once', { tags: ['P-574'] }, async () => {
    const { a, b } = await start();
    const url = `${colabProfile.defaultUrl}?x`;
    const reference = await a.directory.find({ text: url, create: false }, await a.directory.list()).catch(() => undefined);
    expect(reference).toBeUndefined();
    const link = a.directory.linkTo({ kind: 'page', profile: 'colab', url });
    expect(a.directory.linkTo({ kind: 'page', profile: 'colab', url }).id).toBe(link.id);
    const listed = await b.directory.list();
    expect(listed.entries).toContainEqual(expect.objectContaining({ id: link.id, location: url, state: 'waiting' }));
    expect(await b.directory.find({ text: url, create: false }, listed)).toEqual({ kind: 'open', id: link.id });
  });

  it('is meant by an agent still whose own hub was away from the cluster, and no other notebook is; its events go on', {
    tags: ['P-608'],
  }, async () => {
    const { a, c, held, counting } = await start();
    const page = await counting.dial(a);
    const link = c.linkTo(held.id);
    let events = 0;
    const heard = new Promise<void>((resolve) => {
      link.subscribe(() => ++events === 2 && resolve());
    });
    expect(await callTool(link, 'count')).toBe('1');
    c.link.setCut(true);
    await until(a.lease, () => a.lease.hubs().length === 2);
    c.link.setCut(false);
    await until(c.lease, () => c.lease.isHeld());
    await until(a.lease, () => a.lease.hubs().length === 3);
    // The hub with the page has ended all that it had of the other.
    expect(await callTool(link, 'count')).toBe('2');
    expect(events).toBe(1);
    page.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    await heard;
    await link.close();
  });

  it('stays where it is while its hub is away from the cluster, unless it has gone elsewhere', { tags: ['P-571'] }, async () => {
    const { a, b, c, held, counting } = await start();
    const first = await counting.dial(a);
    const local = a.linkTo(held.id);
    await local.join();
    a.link.setCut(true);
    await until(a.lease, () => !a.lease.isHeld());
    expect(await callTool(local, 'count')).toBe('1');
    await local.close();
    a.link.setCut(false);
    await until(a.lease, () => a.lease.isHeld());
    await a.told(() => held.isClaimed && !held.isBehind);
    expect(a.claims.ownerOf(`page.${held.id}`)).toMatchObject({ hub: a.lease.self.id, epoch: 2 });
    await b.told(() => b.claims.ownerOf(`page.${held.id}`)?.hub === a.lease.self.id);
    expect(await callOnce(b, held.id, 'count')).toBe('2');

    a.link.setCut(true);
    await until(c.lease, () => c.lease.hubs().length === 2);
    await new CountingPage(counting.token).dial(c);
    a.link.setCut(false);
    expect(await first.closed).toBe(1001);
    await until({ subscribe: (listener) => a.pages.changed.add(listener) }, () => a.pages.held.length === 0);
    expect(c.pages.held.map(({ id }) => id)).toEqual([held.id]);
  });

  it('is not kept by a hub that let go of it before it was known to have it', { tags: ['deep'] }, async () => {
    const { a } = await start();
    const held = a.pages.open({ profile: 'page', url: `${pageOrigin}/gone`, allowOrigins: [pageOrigin] });
    const resource = `page.${held.id}`;
    expect(await held.yield()).toBe(true);
    await a.told(() => {
      const record = a.claims.recordOf(resource);
      return record !== undefined && record.hub === undefined && a.claims.held(resource) === undefined;
    });
    expect(a.claims.ownerOf(resource)).toBeUndefined();
  });
});

describe('a notebook of another hub', () => {
  it('is looked for at the hub that was started under that name last, while the one before is not known to be dead', {
    tags: ['P-607'],
  }, async () => {
    // Its lease outlasts the test.
    await using cluster = new PageHubs(1);
    const [a, killed] = await Promise.all(['a', 'b'].map((name) => cluster.add(name)));
    if (a === undefined || killed === undefined) throw new Error('Not started.');
    await cluster.seen(2);
    const before = killed.lease.self.id;
    await killed.kill();
    await cluster.add('b');
    await until(a.lease, () => a.lease.hubs().length === 3);
    const link = a.directory.linkTo({ kind: 'open', id: 'none@b' });
    expect(await link.request('tools/list', {}, createContext('tools/list'))).toEqual({ tools: [] });
    expect(a.lease.hubs().map(({ id }) => id)).toContain(before);
  });
});

describe('2,000 pages of a cluster', () => {
  it('pages that lose their hub at once come to another, for four writes each, and no more than 2 KB in the store', {
    timeout: 600_000,
    tags: ['deep', 'P-565'],
  }, async () => {
    await using cluster = new PageHubs(1);
    const [a, b] = [await cluster.add('a'), await cluster.add('b')];
    await cluster.seen(2);
    const slots = Array.from({ length: 2000 }, (_, at) =>
      a.pages.open({ profile: 'page', url: `${pageOrigin}/${at}`, allowOrigins: [pageOrigin] }),
    );
    const allTold = (): Promise<void> => a.told(() => slots.every(({ isBehind }) => !isBehind));
    await allTold();
    const counting = slots.map(({ page }) => new CountingPage(page.slot.token));
    const pages = await Promise.all(counting.map((page) => page.dial(a)));
    await allTold();
    const { writes } = cluster.memory.counts;
    const bytes = cluster.memory.bytesBelow('claim.page.');
    // With all of its connections: two hubs of one process share what it may hold of them.
    await Promise.all([a.drain(), ...pages.map((page) => page.closed)]);
    await Promise.all(counting.map((page) => page.dial(b)));
    expect(b.pages.held.length).toBe(2000);
    expect((cluster.memory.counts.writes - writes) / 2000).toBeLessThan(5);
    expect(bytes / 2000).toBeLessThan(2048);
    for (const { page } of counting) page?.socket.terminate();
  });
});
