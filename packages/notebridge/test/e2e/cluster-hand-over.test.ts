// @module-tag deep

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openModernAgent } from '../support/http-agent.js';
import { HubCluster } from '../support/hub-cluster.js';
import { initialize } from '../support/mcp-http.js';
import { natsProgram, whyNoNats } from '../support/nats.js';
import type { ServedHub } from '../support/served-hub.js';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/servers/${name}`, import.meta.url));
const accept = 'application/json, text/event-stream';
const question = {
  method: 'elicitation/create',
  params: { message: 'Your name?', requestedSchema: { type: 'object', properties: {} } },
};
const answers = { 'question-1': { action: 'accept', content: { name: 'Ada' } } };

describe.skipIf(natsProgram === undefined)(`hubs that hand over${whyNoNats}`, () => {
  let cluster: HubCluster;
  let folder: string;
  let countFile: string;
  const noted = (): string[] => readFileSync(countFile, 'utf8').split('\n').slice(0, -1);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-'));
    countFile = join(folder, 'count');
    writeFileSync(countFile, '');
    cluster = await HubCluster.start({
      names: ['a', 'b'],
      cluster: { drainMs: 15_000 },
      servers: () => ({
        calls: { command: process.execPath, args: [fixture('calls.mjs'), countFile] },
        asks: { command: process.execPath, args: [fixture('asks-legacy.mjs')], questions: 'serial' },
      }),
    });
  });
  afterEach(async () => {
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const post = (hub: ServedHub, session: string, message: JsonObject, signal?: AbortSignal): Promise<Response> =>
    hub.request('/mcp', {
      signal,
      token: hub.ownerToken,
      body: { jsonrpc: '2.0', ...message },
      headers: { accept, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' },
    });
  const openSession = async (hub: ServedHub): Promise<string> => {
    const opened = await hub.request('/mcp', {
      token: hub.ownerToken,
      body: initialize(1, '2025-11-25', {}, 'agent'),
      headers: { accept },
    });
    await opened.text();
    return opened.headers.get('mcp-session-id') ?? '';
  };

  const hub404 = (hub: ServedHub): Promise<Response> => post(hub, 'made-up.YQ', { id: 1, method: 'tools/list' });

  it('have sessions go on at another one when they are ended, and begin anew when they are killed', {
    tags: ['P-560'],
  }, async () => {
    const [a, b] = [cluster.hub('a'), cluster.hub('b')];
    const session = await openSession(a);
    expect((await post(a, session, { id: 2, method: 'tools/call', params: { name: 'calls__count', arguments: { n: 1 } } })).status).toBe(
      200,
    );
    const slow = a.call('calls', 'wait', { key: 'slow' }, a.ownerToken);
    const busySession = await openSession(a);
    const busy = post(a, busySession, { id: 2, method: 'tools/call', params: { name: 'calls__wait', arguments: { key: 'busy' } } });
    await expect.poll(noted).toEqual(expect.arrayContaining(['wait slow', 'wait busy']));
    const ended = a.stop();
    const again = (id: number) => post(b, session, { id, method: 'tools/call', params: { name: 'calls__count', arguments: { n: 2 } } });
    // Until it has heard that the other one ends, a hub hands requests on, and they are refused before they begin: with Retry-After.
    let answer = await again(4);
    for (let id = 5; answer.status === 503 && answer.headers.get('retry-after') !== null; id++) answer = await again(id);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('"2"');
    expect(noted().filter((line) => line.startsWith('count'))).toEqual(['count 1', 'count 2']);
    // What ran is let end, up to a limit; these never would.
    expect((await slow).answer).toMatchObject({ success: false, error_code: 'hub_gone' });
    expect(await (await busy).json()).toMatchObject({ error: { message: expect.stringContaining('unknown'), data: { code: 'closed' } } });
    expect(await ended).toBe(0);
    // Their session goes on all the same.
    expect((await post(b, busySession, { id: 3, method: 'tools/list' })).status).toBe(200);
    const gone = await openSession(b);
    await cluster.kill('b');
    const c = await cluster.add('c');
    await cluster.seen('c', []);
    expect((await post(c, gone, { id: 5, method: 'tools/list' })).status).toBe(404);
  });

  it('take the answer to what a call asks at a hub that ends from another one, too, and let the call end', {
    tags: ['P-711'],
  }, async () => {
    const [a, b] = [cluster.hub('a'), cluster.hub('b')];
    const opened = await a.request('/mcp', {
      token: a.ownerToken,
      body: initialize(1, '2025-11-25', { elicitation: {} }, 'agent'),
      headers: { accept },
    });
    await opened.text();
    const session = opened.headers.get('mcp-session-id') ?? '';
    const params = { name: 'asks__ask', arguments: { asks: [question] } };
    const called = await post(b, session, { id: 2, method: 'tools/call', params });
    const reader = called.body?.pipeThrough(new TextDecoderStream()).getReader();
    let told = '';
    const until = async (text: string): Promise<void> => {
      while (!told.includes(text)) told += (await reader?.read())?.value ?? `\n${text} never came`;
    };
    await until('elicitation/create');
    const asked = JSON.parse(/^data: (.*elicitation\/create.*)$/m.exec(told)?.[1] ?? '{}') as JsonObject;
    const ended = a.stop();
    // From now on b knows that a ends: it begins nothing in this session, and hands on what belongs to the call.
    await expect.poll(async () => (await post(b, session, { id: 3, method: 'tools/list' })).status).toBe(503);
    expect((await post(b, session, { id: asked.id, result: answers['question-1'] })).status).toBe(202);
    await until('"id":2');
    expect(told).toContain('asked');
    expect(await ended).toBe(0);
  });

  it('have a session that went on at another one answered by every hub, also when the first is there again', {
    tags: ['P-556'],
  }, async () => {
    const [a, b] = [cluster.hub('a'), cluster.hub('b')];
    const session = await openSession(a);
    let id = 10;
    const count = async (hub: ServedHub): Promise<number> => {
      const params = { name: 'calls__count', arguments: { n: id } };
      const answer = await post(hub, session, { id: ++id, method: 'tools/call', params });
      await answer.text();
      return answer.status;
    };
    const c = await cluster.add('c');
    await cluster.seen('c', ['a', 'b']);
    await a.stop();
    expect(await count(b)).toBe(200);
    expect(await count(c)).toBe(200);
    const again = await cluster.add('a');
    await cluster.seen('a', ['b', 'c']);
    expect(await Promise.all([count(again), count(c), count(b)])).toEqual([200, 200, 200]);
    await b.stop();
    expect(await count(again)).toBe(200);
    expect(await count(c)).toBe(200);
  });

  it('answer a session of another one there, streams too, to whichever its requests come', { tags: ['P-556'] }, async () => {
    const [a, b] = [cluster.hub('a'), cluster.hub('b')];
    const session = await openSession(a);
    const texts = await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        const answer = await post(n % 2 === 0 ? a : b, session, {
          id: 10 + n,
          method: 'tools/call',
          params: { name: 'calls__count', arguments: { n } },
        });
        const text = await answer.text();
        expect(answer.status, text).toBe(200);
        return text;
      }),
    );
    for (const [n, text] of texts.entries()) expect(text).toContain(`"id":${10 + n}`);
    expect(noted().filter((line) => line.startsWith('count'))).toHaveLength(40);

    const params = { name: 'calls__steps', arguments: {}, _meta: { progressToken: 'p' } };
    const streamed = await (await post(b, session, { id: 60, method: 'tools/call', params })).text();
    expect(streamed.match(/"progressToken":"p"/g)).toHaveLength(3);
    const large = await (
      await post(b, session, { id: 61, method: 'tools/call', params: { name: 'calls__big', arguments: { bytes: 20_000_000 } } })
    ).text();
    expect(large.length).toBeGreaterThan(20_000_000);

    // An agent that goes away in the middle cancels nothing in this era; one that says so does.
    const wait = (id: number, key: string, signal?: AbortSignal): Promise<Response> =>
      post(b, session, { id, method: 'tools/call', params: { name: 'calls__wait', arguments: { key } } }, signal);
    const agent = new AbortController();
    const left = wait(62, 'left', agent.signal);
    const takenBack = wait(63, 'taken back');
    await expect.poll(noted).toEqual(expect.arrayContaining(['wait left', 'wait taken back']));
    agent.abort();
    await expect(left).rejects.toThrow('aborted');
    await post(b, session, { method: 'notifications/cancelled', params: { requestId: 63 } });
    await (await takenBack).text();
    await expect.poll(noted).toContain('cancelled taken back');
    await a.call('calls', 'release', { key: 'left' }, a.ownerToken);
    const outcomes = async (): Promise<unknown[]> => {
      const { calls } = (await (await a.request('/api/v1/hub/calls?tool=wait', { token: a.ownerToken })).json()) as { calls: JsonObject[] };
      return calls.map(({ outcome }) => outcome).sort();
    };
    await expect.poll(outcomes).toEqual(['cancelled', 'ok']);

    // What belongs to no request comes on a stream that another hub opens.
    const stream = await b.request('/mcp', { token: b.ownerToken, headers: { accept: 'text/event-stream', 'mcp-session-id': session } });
    expect(stream.status).toBe(200);
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    a.writeConfig(
      { more: { command: process.execPath, args: [fixture('values.mjs')] } },
      JSON.parse(readFileSync(a.configFile, 'utf8')).notebridge,
    );
    let told = '';
    while (!told.includes('tools/list_changed')) told += (await reader?.read())?.value ?? '';
    await reader?.cancel();

    expect((await hub404(b)).status).toBe(404);
    expect((await b.request('/mcp', { method: 'DELETE', token: b.ownerToken, headers: { 'mcp-session-id': session } })).status).toBe(204);
    expect((await post(a, session, { id: 64, method: 'tools/list' })).status).toBe(404);
  });

  it('finish what a modern agent was asked where it was begun, and say so when that hub is gone', {
    tags: ['P-561', 'P-601'],
  }, async () => {
    const [a, b] = [cluster.hub('a'), cluster.hub('b')];
    const agentAt = (hub: ServedHub) => openModernAgent(hub, () => hub.ownerToken);
    const params = {
      name: 'asks__ask',
      arguments: { asks: [question] },
      _meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } },
    };
    const first = await agentAt(a)('tools/call', params);
    expect(first.result).toMatchObject({ resultType: 'input_required' });
    const again = { ...params, requestState: first.result?.requestState, inputResponses: answers };
    const second = await agentAt(b)('tools/call', again);
    expect(second.result, JSON.stringify(second)).toMatchObject({ content: [{ text: 'asked' }] });
    // Once, whichever hub is asked.
    expect((await agentAt(b)('tools/call', again)).error).toMatchObject({ data: { code: 'bad_params' } });

    const third = await agentAt(a)('tools/call', params);
    const relayed = post(b, await openSession(a), {
      id: 2,
      method: 'tools/call',
      params: { name: 'calls__wait', arguments: { key: 'lost' } },
    });
    await expect.poll(noted).toContain('wait lost');
    await cluster.kill('a');
    await cluster.seen('b', []);
    // So is the agent of a session, by a status after which nobody sends the same again by itself.
    const answered = await relayed;
    expect([answered.status, answered.headers.get('retry-after')]).toEqual([409, null]);
    expect(await answered.json()).toMatchObject({ error: { data: { code: 'hub_gone' } } });
    const lost = await agentAt(b)('tools/call', { ...again, requestState: third.result?.requestState });
    expect(lost.error).toMatchObject({ data: { code: 'hub_gone' } });
  });

  it('hold all callers to one set of grants: issued at one, used at another, revoked everywhere, and no call too many', async () => {
    const [a, b] = [cluster.hub('a'), cluster.hub('b')];
    const issued = await a.request('/api/v1/hub/grants', { token: a.ownerToken, body: { allow: ['calls:*'], calls: 50 } });
    const { token } = (await issued.json()) as { token: string };
    const outcomes = await Promise.all(Array.from({ length: 120 }, (_, n) => (n % 2 === 0 ? a : b).call('calls', 'count', { n }, token)));
    expect(outcomes.filter(({ answer }) => answer.success === true)).toHaveLength(50);
    expect(noted().filter((line) => line.startsWith('count'))).toHaveLength(50);

    const other = await b.request('/api/v1/hub/grants', { token: b.ownerToken, body: { allow: ['calls:*'] } });
    const free = (await other.json()) as { token: string; grant: { id: string } };
    expect((await a.call('calls', 'count', { n: 'free' }, free.token)).status).toBe(200);
    await b.request(`/api/v1/hub/grants/${free.grant.id}`, { token: b.ownerToken, method: 'DELETE' });
    await expect.poll(async () => (await a.call('calls', 'echo', {}, free.token)).status, { interval: 50 }).toBe(401);
  });

  it('make a call under one idempotency key once, whichever of them gets it', async () => {
    const [a, b] = [cluster.hub('a'), cluster.hub('b')];
    const issued = await a.request('/api/v1/hub/grants', { token: a.ownerToken, body: { allow: ['calls:*'] } });
    const { token } = (await issued.json()) as { token: string };
    const send = (hub: ServedHub): Promise<Response> =>
      hub.request('/api/v1/mcp/proxy/calls/tools/count', {
        token,
        body: { arguments: { n: 'once' } },
        headers: { 'idempotency-key': 'k1' },
      });
    const all = await Promise.all([a, b, a, b, b].map(async (hub) => (await send(hub)).json() as Promise<JsonObject>));
    for (const answer of all) expect(answer).toMatchObject({ success: true });
    expect(noted()).toEqual(['count once']);
  });
});
