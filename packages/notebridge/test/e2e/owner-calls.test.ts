import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLegacyAgent, openModernAgent } from '../support/http-agent.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const secret = 'a "secret"\nof two lines';

describe('the calls of a hub, for its owner', () => {
  const folder = mkdtempSync(join(tmpdir(), 'owner-calls-'));
  let hub: ServedHub;
  beforeAll(async () => {
    const notes = {
      command: process.execPath,
      args: [fixtureServer('calls.mjs'), join(folder, 'calls')],
      env: { NOTES_TOKEN: '${NOTES_TOKEN}' },
    };
    hub = await ServedHub.start({ servers: { notes }, args: ['--notebook', 'none'], env: { NOTES_TOKEN: secret } });
  });
  afterAll(async () => {
    await hub[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = async (path: string, body?: unknown): Promise<JsonObject> => {
    const response = await hub.request(`/api/v1/hub${path}`, { token: hub.ownerToken, ...(body === undefined ? {} : { body }) });
    return { ...((await response.json()) as JsonObject), status: response.status };
  };
  const listed = async (query = ''): Promise<JsonObject[]> => (await ask(`/calls${query}`)).calls as JsonObject[];
  const until = async (query: string): Promise<JsonObject> => {
    for (;;) {
      const [found] = await listed(query);
      if (found !== undefined) return found;
    }
  };

  it('are listed while they run and after, with who made them and what became of them', { tags: ['P-469'] }, async () => {
    const { token, id } = await hub.grant('--allow', 'notes:echo', '--label', 'nightly');
    await hub.call('notes', 'echo', { n: 1 }, token);
    await hub.call('notes', 'count', { n: 1 }, token);
    const [refused, made] = await listed(`?caller=${id}`);
    expect(made).toMatchObject({
      ...{ state: 'ended', method: 'tools/call', server: 'notes', tool: 'echo', door: 'tool-proxy', outcome: 'ok', parent: null },
      caller: { kind: 'grant', grant_id: id, label: 'nightly' },
    });
    expect(Date.parse(String(made?.started_at))).toBeLessThanOrEqual(Date.now());
    expect(made?.duration_ms).toBeGreaterThan(0);
    expect(refused).toMatchObject({ tool: 'count', outcome: 'denied', state: 'ended' });
    expect(await listed(`?caller=${id}&outcome=failed`)).toEqual([refused]);
  });

  it('show what was sent and answered, without secrets', { tags: ['P-469'] }, async () => {
    await hub.call('notes', 'echo', { said: `it is ${secret}`, exact: 1 }, hub.ownerToken);
    const { id } = await until('?tool=echo&caller=owner');
    const response = await hub.request(`/api/v1/hub/calls/${id}`, { token: hub.ownerToken });
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({
      arguments: { said: 'it is [redacted: NOTES_TOKEN …ines]' },
      result: { structuredContent: { said: 'it is [redacted: NOTES_TOKEN …ines]' } },
    });
    expect(text).not.toContain('two lines');
    expect(await ask('/calls/9999')).toMatchObject({ status: 422, error_code: 'bad_params' });
  });

  it.each(['legacy', 'modern'] as const)('can be cancelled, and a %s agent over HTTP is answered', { tags: ['P-470'] }, async (era) => {
    const { token } = await hub.grant('--agent', '--label', era);
    const send = era === 'legacy' ? await openLegacyAgent(hub, () => token) : openModernAgent(hub, () => token);
    const answered = send('tools/call', { name: 'notes__wait', arguments: { key: era } });
    const running = await until('?tool=wait&outcome=running');
    expect(running).toMatchObject({ state: 'running', outcome: null, duration_ms: null, caller: { label: era } });
    expect(await ask(`/calls/${running.id}/cancel`, {})).toMatchObject({ status: 200, id: running.id });
    const { result, error } = await answered;
    expect(JSON.stringify(result ?? error)).toContain('The owner of the hub cancelled it');
    expect(await ask(`/calls/${running.id}`)).toMatchObject({ state: 'ended', outcome: 'cancelled' });
    expect(await ask(`/calls/${running.id}/cancel`, {})).toMatchObject({ status: 422 });
  });

  it('are told of as they happen, in pieces that a page can keep up with', { tags: ['P-471'] }, async () => {
    const response = await hub.request('/api/v1/hub/events', { token: hub.ownerToken });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    await Promise.all(Array.from({ length: 600 }, (_, n) => hub.call('notes', 'count', { n }, hub.ownerToken)));
    let text = '';
    const news = (): JsonObject[] =>
      [...text.matchAll(/^event: calls\ndata: (.*)\n\n/gm)].map(([, data]) => JSON.parse(data ?? '') as JsonObject);
    const totalsOf = ({ totals }: JsonObject): JsonObject => (isJsonObject(totals) ? totals : {});
    while (!news().some((each) => Number(totalsOf(each).made) >= 600 && totalsOf(each).running === 0))
      text += (await reader?.read())?.value ?? '';
    for (const { calls } of news()) expect((calls as unknown[]).length).toBeLessThanOrEqual(200);
    // Each began and ended: one piece for each would be 1,200.
    expect(news().length).toBeLessThan(300);
    await reader?.cancel();
  });

  it('are nobody’s but the owner’s to see or end', { tags: ['P-472'] }, async () => {
    const { token } = await hub.grant('--allow', '*:*');
    for (const path of ['/calls', '/calls/1', '/events']) {
      expect((await hub.request(`/api/v1/hub${path}`, { token })).status).toBe(403);
      expect((await hub.request(`/api/v1/hub${path}`)).status).toBe(401);
    }
    expect((await hub.request('/api/v1/hub/calls/1/cancel', { token, body: {} })).status).toBe(403);
  });

  it.each([
    ['limit=0', '"limit" is "0"; it must be a whole number from 1 to 1000.'],
    ['before=x', '"before" is "x"'],
    ['colour=red', 'There is no "colour"; there are server, tool, door, outcome, caller, parent, limit, before.'],
  ])('say what is wrong with a question: %s', { tags: ['deep'] }, async (query, text) => {
    expect(await ask(`/calls?${query}`)).toMatchObject({ status: 422, detail: expect.stringContaining(text) });
  });

  it('keep no hub from ending: a stream that is open ends with it', { tags: ['deep'] }, async () => {
    const response = await hub.request('/api/v1/hub/events', { token: hub.ownerToken });
    expect(await hub.stop()).toBe(0);
    await response.text().catch(() => undefined);
  });
});
