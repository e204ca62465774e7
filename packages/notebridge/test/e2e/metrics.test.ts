// @module-tag deep
// @module-tag P-493

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const hostile = 'a"b\\c\n{evil="1"} 9';

describe('/metrics', () => {
  let hub: ServedHub;
  let watching: { token: string; id: string };
  beforeAll(async () => {
    const node = { command: process.execPath };
    hub = await ServedHub.start({
      servers: {
        shop: { ...node, args: [fixtureServer('approvals.mjs'), '/dev/null'], approve: 'writes' },
        odd: { ...node, args: [fixtureServer('named.mjs'), JSON.stringify([hostile])] },
        down: { ...node, args: [fixtureServer('exits.mjs'), '/nothing'] },
      },
      notebridge: { telemetry: { metrics: true } },
      args: ['--notebook', 'none'],
    });
    watching = await hub.grant('--door', 'watch');
  });
  afterAll(() => hub?.[Symbol.asyncDispose]());

  const scrape = async (): Promise<string> => {
    const answer = await hub.request('/metrics', { token: watching.token });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    return answer.text();
  };
  /** Of all series whose labels contain these, together. */
  const sum = (text: string, name: string, labels: string[] = []): number =>
    text
      .split('\n')
      .filter((line) => new RegExp(`^${name}[{ ]`).test(line) && labels.every((label) => line.includes(label)))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);

  it('counts calls by server, tool, door and outcome, and how long they took', async () => {
    const before = await scrape();
    await hub.call('shop', 'read', {}, hub.ownerToken);
    await hub.call('shop', 'read', { fails: true }, hub.ownerToken);
    const { token } = await hub.grant('--allow', 'shop:read');
    await hub.call('shop', 'plain', {}, token);
    const after = await scrape();
    const more = (name: string, labels: string[]): number => sum(after, name, labels) - sum(before, name, labels);
    expect(more('notebridge_calls_total', ['server="shop"', 'tool="read"', 'door="tool-proxy"', 'outcome="ok"'])).toBe(1);
    expect(more('notebridge_calls_total', ['tool="read"', 'outcome="tool_error"'])).toBe(1);
    expect(more('notebridge_calls_total', ['tool="plain"', 'outcome="denied"'])).toBe(1);
    expect(more('notebridge_call_duration_seconds_count', ['server="shop"'])).toBe(3);
    expect(sum(after, 'notebridge_calls_running')).toBe(0);
  });

  it('says how servers, grants and approvals are, and the process', async () => {
    await hub.until(() => hub.log().some(({ server, level }) => server === 'down' && level !== 30));
    const waiting = hub.call('shop', 'add', {}, hub.ownerToken);
    await expect.poll(async () => sum(await scrape(), 'notebridge_approvals_waiting')).toBe(1);
    const text = await scrape();
    expect(sum(text, 'notebridge_calls_running', ['door="tool-proxy"'])).toBe(1);
    expect(sum(text, 'notebridge_server_state', ['server="shop"', 'state="running"'])).toBe(1);
    expect(sum(text, 'notebridge_server_state', ['server="shop"'])).toBe(1);
    expect(sum(text, 'notebridge_server_state', ['server="down"', 'state="running"'])).toBe(0);
    expect(sum(text, 'notebridge_grants')).toBeGreaterThanOrEqual(1);
    expect(sum(text, 'process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    const { approvals } = (await (await hub.request('/api/v1/hub/approvals', { token: hub.ownerToken })).json()) as {
      approvals: { id: string }[];
    };
    await hub.request(`/api/v1/hub/approvals/${approvals[0]?.id}`, { token: hub.ownerToken, body: { decision: 'deny' } });
    expect((await waiting).answer).toMatchObject({ success: false });
  });

  it('has no more series for names that callers make up, and takes no line that a name tries to add', async () => {
    await hub.call('shop', 'read', {}, hub.ownerToken);
    const names = Array.from({ length: 300 }, (_, index) => `made-up-${index}`);
    for (const name of names) await hub.call('odd', name, {}, hub.ownerToken);
    await hub.call('odd', encodeURIComponent(hostile), {}, hub.ownerToken);
    const text = await scrape();
    expect(text).not.toContain('made-up');
    expect(sum(text, 'notebridge_calls_total', ['server="odd"', 'tool="other"'])).toBeGreaterThanOrEqual(300);
    expect(text.split('\n').filter((line) => line.startsWith('{evil'))).toEqual([]);
    expect(text).toContain('tool="a\\"b\\\\c\\n{evil=\\"1\\"} 9"');
  });

  it('is for the owner, and for grants that watch, alone; attempts are counted', async () => {
    const { token } = await hub.grant('--allow', '*:*');
    const before = sum(await scrape(), 'notebridge_refused_total', ['reason="unknown"']);
    expect((await hub.request('/metrics', { token: hub.ownerToken })).status).toBe(200);
    expect((await hub.request('/metrics')).status).toBe(401);
    expect((await hub.request('/metrics', { token })).status).toBe(403);
    expect((await hub.request('/metrics', { token: `nbg_${'x'.repeat(43)}` })).status).toBe(401);
    expect(sum(await scrape(), 'notebridge_refused_total', ['reason="unknown"'])).toBe(before + 1);
  });

  it('is not there unless the config says so, also for callers without a token where those are let in', async () => {
    await using own = await ServedHub.start({ args: ['--notebook', 'none', '--no-auth'] });
    const off = await own.request('/metrics', { token: own.ownerToken });
    expect([off.status, await off.json()]).toMatchObject([404, { detail: expect.stringContaining('"telemetry": {"metrics": true}') }]);
    expect((await own.request('/metrics')).status).toBe(403);
  });
});
