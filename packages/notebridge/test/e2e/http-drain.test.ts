import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { toTextResult } from '@notebridge/protocol/core/mcp';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { TaskMiddleware } from '../../src/notebooks/runs/task-middleware.js';
import { modernVersion, withEnvelope } from '../support/agents.js';
import { openMcpHttp } from '../support/mcp-http.js';
import { parseReply, requestBytes, untilClosed } from '../support/raw-http.js';
import { authenticate, jsonHeaders, openToolProxy } from '../support/tool-proxy.js';

/** More than the system takes of an answer that nobody reads. */
const bytes = 16 << 20;
const big = { name: 'big', inputSchema: { type: 'object' }, run: async () => toTextResult('x'.repeat(bytes)) };
const events = 'application/json, text/event-stream';

async function openProxy() {
  const { app, origin, close } = await openToolProxy({ tools: [big] });
  return { url: `${origin}/api/v1/mcp/proxy/github/tools/big`, settled: () => app.calls.none(), close };
}

async function openAgents() {
  const { url, door } = await openMcpHttp({ tools: [big] });
  return { url: url.href, settled: () => door.settled(), close: async () => {} };
}

/** Resolves with an answer that has begun, and that nobody reads yet. */
async function ask(url: string, body: unknown, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const asked = request(url, { method: 'POST', agent: false, headers: { ...jsonHeaders, ...headers } });
  asked.end(JSON.stringify(body));
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return answer;
}

describe('the end of a hub', () => {
  const ofAgents = { accept: events, 'mcp-protocol-version': modernVersion, 'mcp-method': 'tools/call', 'mcp-name': 'big' };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: withEnvelope({ name: 'big' }) };
  it.each([
    ['code', openProxy, { arguments: {} }, {}],
    ['code, as a stream', openProxy, { arguments: {} }, { accept: 'application/x-ndjson' }],
    ['agents', openAgents, call, ofAgents],
  ])('waits until an answer is out that is read slowly: for %s', { tags: ['P-711'] }, async (_, open, body, headers) => {
    const { url, settled, close } = await open();
    const answer = await ask(url, body, headers);
    let isSettled = false;
    const settling = settled().then(() => {
      isSettled = true;
    });
    expect((await fetch(new URL('/none', url))).status).toBe(404);
    expect(isSettled).toBe(false);
    let length = 0;
    for await (const piece of answer) length += (piece as Buffer).length;
    expect(length).toBeGreaterThan(bytes);
    await settling;
    await close();
  });
});

describe('a hub that ends', () => {
  it('begins no call whose body comes after its end has begun', { tags: ['P-711'] }, async () => {
    let sayAdmitted = (): void => {};
    const admitted = new Promise<void>((resolve) => {
      sayAdmitted = resolve;
    });
    const noted: typeof authenticate = (authorization) => {
      sayAdmitted();
      return authenticate(authorization);
    };
    await using open = await openToolProxy({ authenticate: noted });
    const asked = request(`${open.url}/github/tools/count`, { method: 'POST', agent: false, headers: jsonHeaders });
    asked.write('{"arguments":');
    await admitted;
    open.app.drain();
    asked.end('{}}');
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect([answer.statusCode, answer.headers['retry-after'], open.test.counted()]).toEqual([503, '1', 0]);
    await once(answer.resume(), 'close');
  });
});

describe('a task, while the hub ends', () => {
  it('is waited for as the call that it is, and whoever asks for it is answered', { tags: ['P-711'] }, async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const inputSchema = { type: 'object', properties: { wait_seconds: {} } };
    const runCode = { name: 'run_code', inputSchema, run: () => released.then(() => toTextResult('ran')) };
    const { hub, app, door, open } = await openMcpHttp({ tools: [runCode] });
    hub.addMiddleware(new TaskMiddleware({ emit: () => {}, calls: app.calls }));
    const agent = await open();
    const ask = async (method: string, params: JsonObject = {}): Promise<JsonObject> =>
      (await (await agent.request(method, params)).json()) as JsonObject;
    await ask('tools/list');
    const { result } = await ask('tools/call', { name: 'run_code', arguments: {}, task: {} });
    const { taskId } = (result as { task: { taskId: string } }).task;
    app.drain();
    let isSettled = false;
    const settling = door.settled().then(() => {
      isSettled = true;
    });
    expect(await ask('tasks/get', { taskId })).toMatchObject({ result: { status: 'working' } });
    expect((await agent.call('run_code')).status).toBe(503);
    expect(isSettled).toBe(false);
    release();
    expect(await ask('tasks/result', { taskId })).toMatchObject({ result: { content: [{ text: 'ran' }] } });
    await settling;
  });
});

describe('a refusal that comes before its request has come whole', () => {
  const body = `{"arguments":{"text":"${'x'.repeat(12 << 20)}"}}`;
  it.each([
    [503, 'the hub ends', { isEnding: true, headers: jsonHeaders }],
    [401, 'the token is wrong', { headers: { 'content-type': 'application/json', authorization: 'Bearer wrong' } }],
    [413, 'the body is too large', { maxBodyBytes: 1 << 20, headers: jsonHeaders }],
    [415, 'it is no JSON', { headers: { ...jsonHeaders, 'content-type': 'text/plain' } }],
  ])('reaches a caller that reads nothing before all is sent: %i, %s', { tags: ['P-739'] }, async (status, _, more) => {
    const { isEnding = false, maxBodyBytes, headers } = more as { isEnding?: boolean; maxBodyBytes?: number; headers: typeof jsonHeaders };
    await using open = await openToolProxy({ http: { maxBodyBytes } });
    if (isEnding) open.app.drain();
    const { port } = open.listener;
    const socket = connect(port, '127.0.0.1');
    const sent = requestBytes(port, { method: 'POST', target: '/api/v1/mcp/proxy/github/tools/count', headers, body });
    await new Promise<void>((resolve, reject) => socket.once('error', reject).write(sent, (error) => (error ? reject(error) : resolve())));
    expect(parseReply(await untilClosed(socket)).status).toBe(status);
  });
});
