// @module-tag P-486

import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive, ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

describe('the owner’s API', () => {
  let hub: ServedHub;
  beforeAll(async () => {
    const notes = { command: process.execPath, args: [fixtureServer('changing.mjs')] };
    const shop = { command: process.execPath, args: [fixtureServer('approvals.mjs'), '${HOME}/calls'] };
    const servers = { notes, shop, off: { ...notes, disabled: true }, liar: { ...shop, trusted: false } };
    hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
    for (const name of ['notes', 'shop', 'liar']) await hub.request(`/api/v1/hub/servers/${name}`, { token: hub.ownerToken });
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  const ask = async (path: string, { body, method }: { body?: JsonObject; method?: string } = {}, token = hub.ownerToken) => {
    const response = await hub.request(`/api/v1/hub${path}`, { token, ...(body && { body }), ...(method && { method }) });
    return { status: response.status, answer: (await response.json()) as JsonObject };
  };
  const control = (server: string, action: string) => ask(`/servers/${server}/${action}`, { method: 'POST' });

  it('stops a server with its process, and the next call starts it', async () => {
    const { answer: before } = await control('notes', 'start');
    expect(before).toMatchObject({ name: 'notes', status: 'running' });
    expect((await control('notes', 'stop')).answer).toMatchObject({ status: 'stopped', pid: null });
    expect(isAlive(Number(before.pid))).toBe(false);
    expect((await hub.call('notes', 'first', {}, hub.ownerToken)).answer).toMatchObject({ success: true });
    expect((await ask('/servers/notes')).answer).toMatchObject({ status: 'running' });
  });

  it('starts a server anew: another process, the same tools', async () => {
    const { answer: before } = await control('notes', 'start');
    const { status, answer: after } = await control('notes', 'restart');
    expect([status, after.status]).toEqual([200, 'running']);
    expect(after.pid).not.toBe(before.pid);
    expect(isAlive(Number(before.pid))).toBe(false);
    expect((after.tools as JsonObject[]).map(({ name }) => name)).toContain('first');
  });

  it.each([
    ['nothing', 404, 'nothing'],
    ['off', 422, 'disabled in the config'],
  ])('refuses to start "%s", and says why', async (name, status, text) => {
    expect(await control(name, 'restart')).toMatchObject({ status, answer: { detail: expect.stringContaining(text) } });
  });

  it('shows what a grant would open before it is issued, by the rules of the guard', async () => {
    const preview = async (body: JsonObject): Promise<string[]> => {
      const { answer } = await ask('/grants/preview', { body });
      const tools = answer.tools as { server: string; tool: string; allowed: boolean }[];
      return tools.filter(({ allowed }) => allowed).map(({ server, tool }) => `${server}:${tool}`);
    };
    expect(await preview({ allow: ['shop:re*', 'notes:first'] })).toEqual(['notes:first', 'shop:read', 'shop:remove']);
    // What a server says of itself counts only where it is trusted.
    expect(await preview({ allow: ['shop', 'liar'], read_only: true })).toEqual(['shop:read', 'shop:odd']);
    expect((await ask('/grants')).answer).toEqual({ grants: [] });
    expect(await ask('/grants/preview', { body: { allow: ['a b'] } })).toMatchObject({
      status: 422,
      answer: { detail: expect.stringContaining('space or comma') },
    });
  });

  it('issues a grant, which opens what was shown, and revokes it', async () => {
    const body = { allow: ['shop:read'], label: 'a report', ttl_seconds: 60, calls: 5 };
    const { status, answer } = await ask('/grants', { body });
    expect(status).toBe(200);
    const { token, grant } = answer as { token: string; grant: JsonObject };
    expect(grant).toMatchObject({ label: 'a report', allow: ['shop:read'], door: 'tools', calls: 5, used: 0 });
    expect((await hub.call('shop', 'read', {}, token)).answer).toMatchObject({ success: true });
    expect((await hub.call('shop', 'add', {}, token)).answer).toMatchObject({ error_code: 'denied' });
    expect((await ask('/grants')).answer).toMatchObject({ grants: [{ id: grant.id, used: 1 }] });
    // No grant may look at grants, or give others.
    for (const method of ['GET', 'POST']) expect((await ask('/grants', { method }, token)).status).toBe(403);
    expect(await ask(`/grants/${String(grant.id)}`, { method: 'DELETE' })).toEqual({ status: 200, answer: { revoked: true } });
    expect((await hub.call('shop', 'read', {}, token)).answer).toMatchObject({ error_code: 'bad_grant' });
    expect((await ask(`/grants/${String(grant.id)}`, { method: 'DELETE' })).status).toBe(422);
  });

  it('says of a call that failed what its caller was told', async () => {
    const { token, id } = await hub.grant('--allow', 'notes:*');
    const { answer } = await hub.call('shop', 'read', {}, token);
    const [last] = (await ask('/calls?limit=1')).answer.calls as JsonObject[];
    const { error } = (await ask(`/calls/${String(last?.id)}`)).answer;
    expect(error).toMatch(/^Denied: /);
    expect(answer.error).toBe(error);
    await ask(`/grants/${id}`, { method: 'DELETE' });
  });

  it('leaves nothing on a connection that is kept for further requests', async () => {
    for (let times = 0; times < 15; times++) {
      await ask('/logs');
      await ask('/bindings');
    }
    // Node warns of the eleventh listener.
    expect(hub.stderr).not.toContain('MaxListenersExceededWarning');
  });

  it('keeps nothing of what was sent and answered where the config says so', async () => {
    const servers = { shop: { command: process.execPath, args: [fixtureServer('approvals.mjs'), '${HOME}/calls'] } };
    await using own = await ServedHub.start({ servers, notebridge: { keepCalls: false }, args: ['--notebook', 'none'] });
    await own.call('shop', 'read', { text: 'private' }, own.ownerToken);
    const [kept, whole] = [
      await own.request('/api/v1/hub/calls', { token: own.ownerToken }),
      await own.request('/api/v1/hub/calls/1', { token: own.ownerToken }),
    ];
    expect(await kept.json()).toMatchObject({ calls: [{ tool: 'read', outcome: 'ok' }] });
    expect(await whole.json()).toMatchObject({ arguments: null, arguments_left_out: true, result: null, result_left_out: true });
  });

  it.each([
    [{ allow: [] }, 'at least one pattern'],
    [{ allow: 'shop' }, '`allow` must be a list'],
    [{ ttl_seconds: 1.5e12 }, '`ttlMs`'],
    [{ calls: 0 }, '`calls`'],
    [{ door: 'owner' }, '`door`'],
    [{ holder: 'somebody' }, 'There is no "holder"'],
  ])('refuses the terms %o, and issues nothing', async (body, text) => {
    expect(await ask('/grants', { body: body as JsonObject })).toMatchObject({
      status: 422,
      answer: { detail: expect.stringContaining(text) },
    });
    expect((await ask('/grants')).answer).toEqual({ grants: [] });
  });
});
