import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { Asker } from '@notebridge/protocol/core/questions';
import type { JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it } from 'vitest';
import { ServerTools } from '../../src/catalog/server-tools.js';

import { EventReader, messagesOf, openMcpHttp } from '../support/mcp-http.js';
import { createCall, fixtureConfig, openUpstreams } from '../support/upstreams.js';

const form = { method: 'elicitation/create', params: { message: 'Name?', requestedSchema: { type: 'object', properties: {} } } };
const sample = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } };
const roots = { method: 'roots/list' };

/** A server that asks what it is told to, as an agent's door reaches it. */
function openAsking(more: Parameters<typeof fixtureConfig>[2] = {}, args: string[] = [], limits = {}) {
  return openUpstreams([fixtureConfig('asks-raw.mjs', args, more)], { limits });
}

function callWith(asker: Partial<Asker>, args: JsonObject, cancellation = new Cancellation()) {
  return createCall('ask', args, { asker: { clientCapabilities: {}, ...asker }, requestId: 1, cancellation });
}

const everything = { elicitation: {}, sampling: {}, roots: {} };

describe('what a server of the modern era asks a legacy caller', () => {
  it('is asked all at once, and answered in one call with its own state', { tags: ['deep'] }, async () => {
    const { call } = openAsking();
    const methods: string[] = [];
    const ask: Asker['ask'] = async (_, { method }) => {
      methods.push(method);
      return { from: method };
    };
    const args = { asks: { a: form, b: sample, c: roots }, state: '§ "odd"' };
    const result = await call('ask', args, callWith({ clientCapabilities: everything, ask }, args));
    expect(methods).toEqual([form, sample, roots].map(({ method }) => method));
    const inputResponses = { a: { from: form.method }, b: { from: sample.method }, c: { from: roots.method } };
    expect(result).toMatchObject({ structuredContent: { params: { inputResponses, requestState: '§ "odd" 1', arguments: args } } });
  });

  it('is cancelled for one who cannot be asked a form, and fails the call for the rest', { tags: ['P-339'] }, async () => {
    const { call } = openAsking();
    const cannot = callWith({}, { asks: { a: form } });
    expect(await call('ask', {}, cannot)).toMatchObject({ structuredContent: { params: { inputResponses: { a: { action: 'cancel' } } } } });
    for (const question of [sample, roots]) {
      const failing = call('ask', {}, callWith({}, { asks: { a: form, b: question } }));
      await expect(failing).rejects.toMatchObject({ code: 'unanswered_question', message: expect.stringContaining(question.method) });
    }
    // A client of forms alone is not asked to open a URL, nor one without tools to use them.
    const ask = (): never => expect.fail('It was asked.');
    const url = { method: 'elicitation/create', params: { mode: 'url', url: 'https://x.example', message: '' } };
    const formOnly = callWith({ clientCapabilities: everything, ask }, { asks: { a: url } });
    expect(await call('ask', {}, formOnly)).toMatchObject({
      structuredContent: { params: { inputResponses: { a: { action: 'cancel' } } } },
    });
    const tools = { ...sample, params: { ...sample.params, tools: [] } };
    await expect(call('ask', {}, callWith({ clientCapabilities: everything, ask }, { asks: { a: tools } }))).rejects.toMatchObject({
      code: 'unanswered_question',
    });
  });

  it('is nothing where the entry of the server says so: it is told of no capability', { tags: ['deep'] }, async () => {
    for (const [questions, told] of [
      ['none', {}],
      ['auto', everything],
    ] as const) {
      const { call } = openAsking({ questions });
      const ask = (): never => expect.fail('It was asked.');
      const { structuredContent } = await call('ask', {}, callWith({ clientCapabilities: everything, ask }, { rounds: 0 }));
      const { params } = structuredContent as { params: { _meta: JsonObject } };
      expect(params._meta['io.modelcontextprotocol/clientCapabilities']).toEqual(told);
    }
  });

  it('ends after 16 rounds, and at once if it is no question', { tags: ['P-341'] }, async () => {
    const { call } = openAsking();
    let asked = 0;
    const ask = async (): Promise<JsonObject> => ({ action: 'accept', round: ++asked });
    const asker = { clientCapabilities: everything, ask };
    const endless = call('ask', {}, callWith(asker, { asks: { a: form }, rounds: 100 }));
    await expect(endless).rejects.toMatchObject({ code: 'unanswered_question', message: expect.stringContaining('16 rounds') });
    expect(asked).toBe(15);
    const patient = call('ask', {}, callWith(asker, { rounds: 2 }));
    expect(await patient).toMatchObject({ structuredContent: { params: { requestState: 'state 2' } } });
    const strange = call('ask', {}, callWith(asker, { asks: { a: { method: 'tools/list' } } }));
    await expect(strange).rejects.toMatchObject({ code: 'bad_message' });
  });

  it('says what the agent answered with an error, and ends the other questions then', { tags: ['deep'] }, async () => {
    const { call } = openAsking();
    const ended: string[] = [];
    const ask: Asker['ask'] = (_, { method }, { cancellation }) => {
      if (method === 'roots/list') return Promise.reject(new Error('no roots today'));
      return new Promise((_, reject) => cancellation.onCancel((reason) => reject(new Error(ended.push(reason).toString()))));
    };
    const failing = call('ask', {}, callWith({ clientCapabilities: everything, ask }, { asks: { a: form, b: roots } }));
    await expect(failing).rejects.toThrow('no roots today');
    expect(ended).toEqual(['another question of the same call has failed']);
  });
});

describe('a modern agent', () => {
  it('gets input_required as the server wrote it, but for its name, and what it answers reaches the same program as it is', {
    tags: ['P-338'],
  }, async () => {
    const { url, post, ask } = await openDoor({ instances: 'per-agent' });
    expect(url.pathname).toBe('/mcp');
    const args = { asks: { 'odd key': { ...form, odd: 1 }, r: roots }, state: 'tampered? §' };
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': everything };
    const [first] = await messagesOf(await ask('tools/call', { name: 'it__ask', arguments: args, _meta }));
    expect(first?.result).toMatchObject({
      resultType: 'input_required',
      odd: 3,
      requestState: 'tampered? § 1',
      inputRequests: { 'odd key': { ...form, odd: 1, params: { ...form.params, message: '[it] Name?' } }, r: roots },
    });
    expect(first?.result).not.toHaveProperty('ttlMs');
    const inputResponses = { 'odd key': { action: 'accept', content: { a: 1 }, odd: 2 }, r: { roots: [] } };
    const again = { name: 'it__ask', arguments: args, inputResponses, requestState: 'tampered? § 1' };
    const [second] = await messagesOf(await ask('tools/call', { ...again, _meta }));
    expect(second?.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { params: { ...again, name: 'ask' } },
    });
    const pidOf = (answer: JsonObject | undefined): unknown =>
      (answer as { result: { structuredContent: JsonObject } }).result.structuredContent.pid;
    const [third] = await messagesOf(await ask('tools/call', { ...again, _meta }));
    expect(pidOf(third)).toBe(pidOf(second));
    expect((await post({})).status).toBe(400);
  });

  it.each(['what it did not declare', 'anything, where the entry of the server says so'])(
    'is not asked %s',
    { tags: ['P-339'] },
    async (which) => {
      const isNone = which.startsWith('anything');
      const { ask } = await openDoor(isNone ? { questions: 'none' } : {});
      const meta = { 'io.modelcontextprotocol/clientCapabilities': isNone ? everything : { elicitation: { form: {} } } };
      const call = async (asks: JsonObject) =>
        (await messagesOf(await ask('tools/call', { name: 'it__ask', arguments: { asks }, _meta: meta })))[0];
      const url = { method: 'elicitation/create', params: { mode: 'url', url: 'https://x.example', message: '' } };
      const cancelled = { a: { action: 'cancel' } };
      expect(await call({ a: isNone ? form : url })).toMatchObject({
        result: { structuredContent: { params: { inputResponses: cancelled } } },
      });
      for (const question of [sample, roots]) {
        for (const asks of [{ a: question }, { a: question, b: form }])
          expect(await call(asks)).toMatchObject({
            error: { message: expect.stringContaining(question.method), data: { code: 'unanswered_question' } },
          });
      }
    },
  );

  it('is asked for pages of the web alone, and in words that hide nothing', { tags: ['P-385'] }, async () => {
    const { ask } = await openDoor();
    const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } } };
    const call = async (params: JsonObject) => {
      const args = { asks: { a: { method: 'elicitation/create', params } } };
      const [answer] = await messagesOf(await ask('tools/call', { name: 'it__ask', arguments: args, _meta: meta }));
      return (answer as { result: { inputRequests?: { a: { params: JsonObject } } } }).result.inputRequests?.a.params;
    };
    const odd = ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'https://a\u202eb', 'java\tscript:x', '', 7, null];
    for (const url of [...odd, 'https://good.example@x.example/', 'https://:good.example@x.example/'])
      expect(await call({ mode: 'url', message: 'Log in.', url })).toBeUndefined();
    expect(await call({ mode: 'weird', message: 'x' })).toBeUndefined();
    expect(await call({ mode: 'url', message: 'Log in.', url: 'http://x.example/?q=a#b' })).toMatchObject({
      url: 'http://x.example/?q=a#b',
    });
    const words = '\u001b[2K\b\b\r\u202e[other]\nPassword?\ttab \u0085\u2028';
    const property = { title: words, description: words, const: words, enumNames: [words] };
    const clean = '[2K[other]\nPassword?\ttab ';
    expect(await call({ message: words, requestedSchema: { type: 'object', properties: { [words]: property } } })).toEqual({
      message: `[it] ${clean}`,
      requestedSchema: {
        type: 'object',
        properties: { [words]: { title: clean, description: clean, enumNames: [clean], const: words } },
      },
    });
  });

  it('alone is told that a server of the legacy era needs URLs opened, and calls again when they are', { tags: ['deep'] }, async () => {
    const { ask } = await openDoor({}, ['legacy']);
    const call = async (capabilities: JsonObject, more: JsonObject = {}) => {
      const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
      return (await messagesOf(await ask('tools/call', { name: 'it__urls', arguments: {}, _meta: meta, ...more })))[0];
    };
    const can = { elicitation: { form: {}, url: {} } };
    const answer = await call(can);
    const asked = { mode: 'url', url: 'https://login.example/?a=b#c', message: '[it] Log in.', odd: 1 };
    expect(answer?.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'url-1': { method: 'elicitation/create', params: asked } },
    });
    expect(await call(can, { inputResponses: { 'url-1': { action: 'decline' } } })).toMatchObject({
      error: { data: { code: 'cancelled' } },
    });
    const done = await call(can, { inputResponses: { 'url-1': { action: 'accept' } } });
    expect(done?.result).toMatchObject({ content: [{ text: 'opened' }] });
    const [, again] = (done as { result: { structuredContent: { calls: JsonObject[] } } }).result.structuredContent.calls;
    expect(again).not.toHaveProperty('inputResponses');
  });

  it('an agent that opens no URLs is told what it lacks; a legacy one gets the error as it is', { tags: ['deep'] }, async () => {
    const { ask } = await openDoor({}, ['legacy']);
    const [answer] = await messagesOf(await ask('tools/call', { name: 'it__urls', arguments: {} }));
    expect(answer).toMatchObject({ error: { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } } });
    const { open } = await openDoor({}, ['legacy']);
    const [error] = await messagesOf(await (await open()).call('it__urls'));
    const elicitation = { mode: 'url', elicitationId: 'e1', url: 'https://login.example/?a=b#c', message: '[it] Log in.', odd: 1 };
    expect(error?.error).toEqual({ code: -32042, message: 'Log in first.', data: { elicitations: [elicitation], odd: 2 } });
  });
});

/** The agents' door over HTTP before such a server. */
async function openDoor(more: Parameters<typeof fixtureConfig>[2] = {}, args: string[] = [], limits = {}) {
  const { upstreams } = openAsking(more, args, limits);
  await upstreams.start();
  const door = await openMcpHttp({ providers: [new ServerTools({ servers: upstreams, logger: silentLogger })] });
  return { ...door, upstreams };
}

describe('a legacy agent over HTTP', () => {
  const capabilities = { elicitation: {}, roots: {} };

  it('is asked on the stream of its own call, and answers by a POST', { tags: ['P-338'] }, async () => {
    const { open } = await openDoor();
    const session = await open({}, capabilities);
    const elsewhere = await session.listen();
    const [one, two] = [
      new EventReader(await session.call('it__ask', { asks: { a: form }, state: 'one' })),
      new EventReader(await session.call('it__ask', { asks: { a: roots }, state: 'two' })),
    ];
    const [first, second] = [await one.next(), await two.next()];
    expect(first).toMatchObject({ method: 'elicitation/create', params: { message: '[it] Name?' } });
    expect(second).toMatchObject({ method: 'roots/list' });
    // The answers in the other order, one of them twice, and one that nobody waits for.
    for (const [id, result] of [
      [second?.id, { roots: [{ uri: 'file:///b' }] }],
      [second?.id, { roots: [{ uri: 'file:///c' }] }],
      [999, { roots: [] }],
      [first?.id, { action: 'decline' }],
    ])
      expect((await session.post({ jsonrpc: '2.0', id, result })).status).toBe(202);
    expect(await one.next()).toMatchObject({
      result: { structuredContent: { params: { inputResponses: { a: { action: 'decline' } }, requestState: 'one 1' } } },
    });
    expect(await two.next()).toMatchObject({
      result: { structuredContent: { params: { inputResponses: { a: { roots: [{ uri: 'file:///b' }] } }, requestState: 'two 1' } } },
    });
    await elsewhere.close();
  });

  it('cannot answer what another session is asked', { tags: ['P-340'] }, async () => {
    const { open } = await openDoor();
    const [asked, other] = [await open({}, capabilities), await open({}, capabilities)];
    const reader = new EventReader(await asked.call('it__ask', { asks: { a: form } }));
    const id = (await reader.next())?.id;
    await other.post({ jsonrpc: '2.0', id, result: { action: 'accept', content: { stolen: true } } });
    await asked.post({ jsonrpc: '2.0', id, result: { action: 'cancel' } });
    expect(await reader.next()).toMatchObject({
      result: { structuredContent: { params: { inputResponses: { a: { action: 'cancel' } } } } },
    });
  });

  it('an agent that cancels its call is told that the question is void; one that never answers is given up', {
    tags: ['P-341'],
  }, async () => {
    const { open } = await openDoor();
    const session = await open({}, capabilities);
    const reader = new EventReader(await session.call('it__ask', { asks: { a: form } }, {}, 7));
    const id = (await reader.next())?.id;
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7, reason: 'enough' } });
    expect(await reader.next()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id, reason: 'enough' } });
    expect(await reader.next()).toBeUndefined();
    const hasty = await openDoor({}, [], { answerTimeoutMs: 300 });
    const silent = await messagesOf(await (await hasty.open({}, capabilities)).call('it__ask', { asks: { a: form } }));
    expect(silent).toMatchObject([
      { method: 'elicitation/create' },
      { method: 'notifications/cancelled' },
      { error: { data: { code: 'timeout' } } },
    ]);
  });

  it('an agent that takes no stream and has none open cannot be asked', { tags: ['deep'] }, async () => {
    const { open } = await openDoor();
    const session = await open({}, capabilities);
    const params = { name: 'it__ask', arguments: { asks: { a: form } } };
    const answer = await session.post({ jsonrpc: '2.0', id: 3, method: 'tools/call', params }, { accept: 'application/json' });
    expect(await answer.json()).toMatchObject({ error: { data: { code: 'closed' } } });
  });
});
