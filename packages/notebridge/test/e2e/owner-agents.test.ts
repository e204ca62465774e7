import { PassThrough } from 'node:stream';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveStdio } from '../../src/doors/mcp/stdio.js';
import { Hub } from '../../src/hub.js';
import { openLegacyAgent, openModernAgent } from '../support/http-agent.js';
import { initialize } from '../support/mcp-http.js';
import { ServedHub } from '../support/served-hub.js';

describe('the agents of a hub, for its owner', () => {
  let hub: ServedHub;
  beforeAll(async () => {
    hub = await ServedHub.start({ args: ['--notebook', 'none'] });
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  const ask = async (path: string, method = 'GET', token = hub.ownerToken): Promise<JsonObject> => {
    const response = await hub.request(`/api/v1/hub${path}`, { token, method });
    return { ...((await response.json()) as JsonObject), status: response.status };
  };
  const listed = async (): Promise<JsonObject[]> => (await ask('/agents')).agents as JsonObject[];

  it('are listed with who they are, by which door and era they came, and when they called last', { tags: ['P-496'] }, async () => {
    const before = Date.now();
    const { token, id } = await hub.grant('--agent', '--label', 'nightly');
    const legacy = await openLegacyAgent(hub, () => token);
    await legacy('tools/list');
    await openModernAgent(hub, () => hub.ownerToken)('tools/list');
    const [modern, first] = await listed();
    const common = { door: 'http', in_flight: 0 };
    expect(first).toMatchObject({ ...common, kind: 'grant', grant_id: id, label: 'nightly', era: 'legacy' });
    expect(first).toMatchObject({ names: ['raw 1'], can_disconnect: true, instead: null });
    expect(modern).toMatchObject({ ...common, kind: 'owner', grant_id: null, label: null, era: 'modern', can_disconnect: false });
    expect(modern?.names).toEqual([expect.stringMatching(/./)]);
    for (const { since, last_call: last } of [modern ?? {}, first ?? {}]) {
      expect(Date.parse(String(since))).toBeGreaterThanOrEqual(before - 1000);
      expect(Date.parse(String(last))).toBeGreaterThanOrEqual(Date.parse(String(since)) - 5);
    }
  });

  it('agents that have a session are disconnected: the next request is answered with 404, and "initialize" opens another', {
    tags: ['P-497'],
  }, async () => {
    const { token } = await hub.grant('--agent', '--label', 'to go');
    const agent = await openLegacyAgent(hub, () => token);
    expect(await agent('tools/list')).toMatchObject({ status: 200 });
    const { id } = (await listed()).find(({ label }) => label === 'to go') ?? {};
    expect(await ask(`/agents/${id}`, 'DELETE')).toMatchObject({ status: 200, disconnected: true });
    const refused = await agent('tools/list');
    expect(refused).toMatchObject({ status: 404, error: { message: expect.stringContaining('Start a new one with "initialize"') } });
    expect((await listed()).some(({ label }) => label === 'to go')).toBe(false);
    expect(await (await openLegacyAgent(hub, () => token))('tools/list')).toMatchObject({ status: 200 });
    expect(await ask(`/agents/${id}`, 'DELETE')).toMatchObject({ status: 422, detail: expect.stringContaining('no agent') });
  });

  it('agents without a session have their grant revoked in its place', { tags: ['P-497'] }, async () => {
    const { token, id: grant } = await hub.grant('--agent', '--label', 'stateless');
    const agent = openModernAgent(hub, () => token);
    await agent('tools/list');
    const { id, instead } = (await listed()).find(({ label }) => label === 'stateless') ?? {};
    expect(await ask(`/agents/${id}`, 'DELETE')).toMatchObject({ status: 422, detail: instead });
    expect(instead).toContain('Revoke its grant');
    expect(await ask(`/grants/${grant}`, 'DELETE')).toMatchObject({ revoked: true });
    expect(await agent('tools/list')).toMatchObject({ status: 401 });
    await expect.poll(async () => (await listed()).map((each) => each.id)).not.toContain(id);
  });

  it('are told of as they come and go', { tags: ['P-496'] }, async () => {
    const response = await hub.request('/api/v1/hub/events', { token: hub.ownerToken });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    await openLegacyAgent(hub, () => hub.ownerToken);
    let text = '';
    while (!text.includes('event: agents\n')) text += (await reader?.read())?.value ?? '';
    await reader?.cancel();
  });

  it('are nobody’s but the owner’s to see or end', { tags: ['deep'] }, async () => {
    const { token } = await hub.grant('--allow', '*:*');
    const [{ id } = {}] = await listed();
    for (const [path, method] of [
      ['/agents', 'GET'],
      [`/agents/${id}`, 'DELETE'],
    ] as const) {
      expect(await ask(path, method, token)).toMatchObject({ status: 403 });
      expect((await hub.request(`/api/v1/hub${path}`, { method })).status).toBe(401);
    }
  });

  it('agents of stdio end with their program', { tags: ['P-496'] }, async () => {
    const own = new Hub();
    const [input, output] = [new PassThrough(), new PassThrough()];
    const door = serveStdio(own, { input, output });
    expect(own.agents.all).toMatchObject([{ door: 'stdio', era: undefined, names: [], lastCallAt: undefined, disconnect: undefined }]);
    const answered = new Promise((resolve) => output.once('data', resolve));
    input.write(`${JSON.stringify(initialize())}\n`);
    await answered;
    expect(own.agents.all).toMatchObject([{ era: 'legacy', names: ['raw 1'], lastCallAt: expect.any(Number) }]);
    input.end();
    await door.closed;
    expect(own.agents.all).toEqual([]);
    own.close();
  });
});
