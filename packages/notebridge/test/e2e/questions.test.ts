// @module-tag deep

import type { Era } from '@notebridge/protocol/core/protocol-versions';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askedUrl, createAskingServer } from '../fixtures/servers/asks-server.mjs';
import { type AskedAgent, type AskedAgentOptions, everyCapability, openAtHub, openOnStdio } from '../support/asked-agent.js';
import { coreAndDeep, isPairwise } from '../support/core-and-deep.js';
import { HttpUpstream } from '../support/http-upstream.js';
import { ServedHub, type ServersForTest } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const eras: Era[] = ['legacy', 'modern'];
const program = (era: Era) => ({ command: process.execPath, args: [fixtureServer('asks.mjs'), era] });
const own = { instances: 'per-agent' };
const servers: ServersForTest = {
  modern: program('modern'),
  modern_http: {},
  modern_own: { ...program('modern'), ...own },
  legacy: { ...program('legacy'), questions: 'serial' },
  legacy_own: { ...program('legacy'), ...own, questions: 'serial' },
  legacy_http: {},
  legacy_http_own: {},
};
/**
 * A server that many share is told once for all what it may ask. One alone with its agent is told what that can: a program of
 * `notebridge stdio`, and a session over HTTP of a legacy agent.
 */
const isTold = (server: string, door = 'HTTP', era: Era = 'modern') =>
  (server === 'legacy' && door !== 'stdio') || (server === 'legacy_http' && era === 'modern');
let hub: ServedHub;
const upstreams: HttpUpstream[] = [];
beforeAll(async () => {
  for (const kind of ['modern', 'sessions'] as const) upstreams.push(await HttpUpstream.serve(kind, createAskingServer));
  servers.modern_http = { url: upstreams[0]?.url };
  servers.legacy_http = { url: upstreams[1]?.url };
  servers.legacy_http_own = { ...servers.legacy_http, ...own };
  hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  for (const upstream of upstreams) await upstream.stop();
});

const doors: { door: string; open: (options: AskedAgentOptions) => Promise<AskedAgent> }[] = [
  { door: 'stdio', open: (options) => openOnStdio(servers, options) },
  { door: 'HTTP', open: (options) => openAtHub(hub, options) },
];
const pairings = doors.flatMap(({ door, open }, at) => eras.map((era, eraAt) => ({ door, era, open, isCore: isPairwise(at, eraAt) })));

for (const { cells, tags } of coreAndDeep(pairings, ({ isCore }) => isCore))
  describe.each(cells)('a $era agent over $door', { tags }, ({ era, open, door }) => {
    let all: AskedAgent;
    let some: AskedAgent;
    let none: AskedAgent;
    beforeAll(async () => {
      all = await open({ era });
      some = await open({ era, capabilities: { elicitation: { form: {} }, experimental: { x: {} } } });
      none = await open({ era, capabilities: {} });
    }, 60_000);
    afterAll(() => Promise.all([all, some, none].map((agent) => agent.close())));

    it.each(Object.keys(servers))(
      'answers the forms, URLs, sampling and roots of the server "%s", and sees who asks',
      { tags: ['P-338'] },
      async (server) => {
        all.asked.length = 0;
        expect(await all.call(`${server}__form`)).toBe('accept Ada');
        expect(await all.call(`${server}__url`)).toBe('url accept');
        expect(await all.call(`${server}__sample`)).toBe('m: hi');
        expect(await all.call(`${server}__roots`)).toBe('file:///ada');
        expect(all.asked).toMatchObject([
          { method: 'elicitation/create', params: { message: `[${server}] Your name?`, requestedSchema: { type: 'object' } } },
          { method: 'elicitation/create', params: { mode: 'url', message: `[${server}] Log in.`, url: askedUrl } },
          { method: 'sampling/createMessage', params: { messages: [{ content: { text: 'Say hi.' } }], maxTokens: 10 } },
          { method: 'roots/list' },
        ]);
        expect(await all.call(`${server}__twice`)).toBe('Ada Ada');
      },
    );

    it.each(Object.keys(servers))(
      'is promised to the server "%s" with no more than it can, or cancels what it cannot',
      { tags: ['P-339'] },
      async (server) => {
        expect(JSON.parse(await all.call(`${server}__can`))).toEqual(everyCapability);
        if (isTold(server, door, era)) {
          expect(JSON.parse(await none.call(`${server}__can`))).toEqual(everyCapability);
          for (const agent of [some, none]) expect(await agent.call(`${server}__url`)).toBe('url cancel');
          expect(await none.call(`${server}__sample`)).toMatch(/did not declare|in which call/);
          return;
        }
        expect(JSON.parse(await some.call(`${server}__can`))).toEqual({ elicitation: { form: {} } });
        expect(JSON.parse(await none.call(`${server}__can`))).toEqual({});
      },
    );
  });

/** A race that one in thousands loses needs ten crowds of forty questions; one crowd finds what is plainly wrong. */
const crowds = Object.keys(servers).flatMap((server, at) => eras.map((era, eraAt) => ({ server, era, isCore: isPairwise(at, eraAt) })));
const [inCore, inAll] = [
  crowds.filter(({ isCore }) => isCore).map((each) => ({ ...each, rounds: 20, tags: ['P-340'] })),
  crowds.map((each) => ({ ...each, rounds: 200, tags: ['P-340', 'deep'] })),
];

for (const { server, era, rounds, tags } of [...inCore, ...inAll]) {
  it(`two agents at the server "${server}" are never asked what is meant for the other, in ${rounds} rounds: ${era}`, {
    timeout: 240_000,
    tags,
  }, async () => {
    const open = async (name: string): Promise<AskedAgent> =>
      openAtHub(hub, {
        era,
        answer: ({ params }) => ({ action: 'accept', content: { name: `${name} ${String(params.message).split(' ')[1]}` } }),
      });
    const names = ['ada', 'bob'];
    const agents = await Promise.all(names.map(open));
    for (let first = 0; first < rounds; first += 20) {
      const numbers = Array.from({ length: 20 }, (_, at) => first + at);
      const asked = numbers.flatMap((number) => agents.map((agent) => agent.call(`${server}__form`, { question: `${number}` })));
      const expected = numbers.flatMap((number) => names.map((name) => `accept ${name} ${number}`));
      expect(await Promise.all(asked)).toEqual(expected);
    }
    for (const { asked } of agents) expect(asked).toHaveLength(rounds);
    await Promise.all(agents.map((agent) => agent.close()));
  });
}

describe('a question that its server ties to no call', () => {
  it('is of the one call that runs, or of the one agent of the server; else it is nobody’s', { tags: ['P-344'] }, async () => {
    const agent = await openAtHub(hub, { era: 'legacy' });
    for (const server of ['legacy', 'legacy_own', 'legacy_http_own']) expect(await agent.call(`${server}__aside`)).toBe('file:///ada');
    const modern = await openAtHub(hub, { era: 'modern' });
    expect(await modern.call('legacy_http__aside')).toContain('nothing says in which call');
    await modern.close();
    await agent.close();
  });
});

describe('a caller that cannot be asked', () => {
  it.each(Object.keys(servers))('is code in a notebook: the server "%s" is promised nothing', { tags: ['P-339'] }, async (server) => {
    const call = async (tool: string) => (await hub.call(server, tool, {}, hub.ownerToken)).answer;
    if (isTold(server)) expect(await call('form')).toMatchObject({ success: true, result: 'cancel nobody' });
    else {
      expect(await call('can')).toMatchObject({ success: true, result: {} });
      expect(await call('form')).toMatchObject({ success: false });
    }
  });
});
