import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Nats, natsProgram, whyNoNats } from '../support/nats.js';
import { expectEndInTime, openAllStreams } from '../support/open-streams.js';
import { createHome, Program, runProgram } from '../support/program.js';
import { type HubRequestOptions, ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

describe.skipIf(natsProgram === undefined)(`grants of two hubs of a cluster${whyNoNats}`, () => {
  let folder: string;
  let nats: Nats;
  let one: ServedHub;
  let two: ServedHub;
  let key: string;
  const start = (hubName: string, user?: ServedHub): Promise<ServedHub> => {
    const shop = { command: process.execPath, args: [fixtureServer('approvals.mjs'), 'none'] };
    const cluster = { url: nats.url, key, hubName, audit: false };
    const long = { command: process.execPath, args: [fixtureServer('goes-on.mjs'), join(folder, 'calls')] };
    return ServedHub.start({ servers: { shop, long }, notebridge: { cluster }, args: ['--notebook', 'none'] }, user);
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-grants-'));
    key = join(folder, 'key');
    writeFileSync(key, 'k'.repeat(40), { mode: 0o600 });
    nats = await Nats.start();
    [one, two] = [await start('one'), await start('two')];
  });
  afterAll(async () => {
    await one?.[Symbol.asyncDispose]();
    await two?.[Symbol.asyncDispose]();
    await nats?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  const grant = (hub: ServedHub, ...args: string[]) => runProgram(['grant', ...args], { env: hub.env });
  const statusAt = async (hub: ServedHub, token: string): Promise<number> =>
    (await fetch(`${hub.url}/api/v1/mcp/proxy/servers`, { headers: { authorization: `Bearer ${token}` } })).status;

  it('are issued, listed and revoked by the command at either, and are in no file', { tags: ['deep', 'P-551'] }, async () => {
    const issued = await grant(one, '--json', '--allow', 'shop:*', '--calls', '10', '--label', 'me', '--ttl', '2h');
    expect(issued.stderr).toBe('');
    const { token, ...terms } = JSON.parse(issued.stdout) as JsonObject & { token: string; id: string };
    expect(terms).toMatchObject({ allow: ['shop:*'], calls: 10, label: 'me', door: 'tools', used: 0 });
    expect([await statusAt(one, token), await statusAt(two, token)]).toEqual([200, 200]);
    const { grants } = JSON.parse((await grant(two, 'list', '--json')).stdout) as { grants: JsonObject[] };
    expect(grants).toContainEqual(terms);
    expect((await grant(two, 'list')).stdout).toMatch(/^g_[\da-f]{12} +tools +2 h +0\/10 +shop:\* +me$/m);
    expect((await grant(two, 'revoke', terms.id)).stdout).toBe(`Revoked ${terms.id}.\n`);
    await expect.poll(() => statusAt(one, token)).toBe(401);
    expect((await grant(one, 'revoke', terms.id)).stderr).toContain(`There is no grant "${terms.id}" that could be revoked`);
  });

  it('end what runs for them at three hubs within a second', { tags: ['P-644'] }, async () => {
    await using three = await start('three');
    const issue = async (...args: string[]) => JSON.parse((await grant(one, '--json', ...args)).stdout) as { token: string; id: string };
    const [agent, tools] = [await issue('--agent'), await issue()];
    const hubs = { one, two, three };
    for (const hub of Object.values(hubs)) await expect.poll(() => statusAt(hub, tools.token)).toBe(200);
    const end = async (): Promise<number> => {
      expect((await grant(three, 'revoke', agent.id, tools.id)).ending).toBe(0);
      return performance.now();
    };
    const opening = Object.entries(hubs).map(async ([by, hub]) => {
      return { by, streams: await openAllStreams(hub, { agent: agent.token, tools: tools.token }, by) };
    });
    const late = await expectEndInTime(await Promise.all(opening), { end, file: join(folder, 'calls') });
    process.stdout.write(`Streams of three hubs ended at most ${Math.max(...late)} ms after the grant was revoked.\n`);
  });

  it('are renewed in a file until that is stopped, also over a restart of the hub', {
    timeout: 240_000,
    tags: ['deep', 'P-589'],
  }, async () => {
    const file = join(folder, 'token');
    const read = (): string => readFileSync(file, 'utf8').trim();
    await using keeper = new Program({ args: ['grant', '--keep', '--file', file, '--ttl', '6s', '--allow', 'shop:re*'], env: one.env });
    await keeper.until(() => keeper.stderr.includes('is renewed there'));
    const first = read();
    const atBoth = async () => [await statusAt(one, read()), await statusAt(two, read())];
    await expect.poll(atBoth).toEqual([200, 200]);
    await expect.poll(read).not.toBe(first);
    await expect.poll(() => statusAt(two, read())).toBe(200);
    await one.stop();
    // As soon as it is tried: the token's life is over then, and the grant is not.
    await keeper.until(() => keeper.stderr.includes('could not be renewed'));
    expect(keeper.stderr).toMatch(/could not be renewed: No hub of yours runs/);
    one = await start('one', one);
    // It may have been renewed right before the hub ended.
    await expect.poll(atBoth).toEqual([200, 200]);
    let live: JsonObject[] = [];
    const look = async (): Promise<number> => {
      const { grants } = JSON.parse((await grant(two, 'list', '--json')).stdout) as { grants: JsonObject[] };
      live = grants.filter(({ allow }) => JSON.stringify(allow) === '["shop:re*"]');
      return live.length;
    };
    await expect.poll(look).toBeGreaterThan(0);
    expect(live).toHaveLength(1);
    const last = read();
    keeper.child.kill('SIGTERM');
    expect(await keeper.ended).toBe(0);
    expect(existsSync(file)).toBe(false);
    await expect.poll(() => statusAt(two, last)).toBe(401);
    expect(keeper.stderr).not.toContain(last);
  });

  it('are renewed by the owner alone, and only one that there is', { tags: ['P-589'] }, async () => {
    const { token, id } = JSON.parse((await grant(one, '--json', '--ttl', '1m')).stdout) as { token: string; id: string };
    const renew = (of: string, by: string, body: JsonObject = {}) => two.request(`/api/v1/hub/grants/${of}/renew`, { token: by, body });
    expect((await renew(id, token)).status).toBe(403);
    const refused = await renew('g_000000000000', two.ownerToken);
    expect([refused.status, await refused.json()]).toEqual([422, expect.objectContaining({ error_code: 'bad_params' })]);
    for (const ttl_seconds of [-1, 0, '5', 1e9, null]) expect((await renew(id, two.ownerToken, { ttl_seconds })).status).toBe(422);
    const renewed = (await (await renew(id, two.ownerToken, { ttl_seconds: 7200 })).json()) as { token: string; grant: JsonObject };
    expect(renewed.grant).toMatchObject({ id });
    expect(Date.parse(String(renewed.grant.expires_at)) - Date.now()).toBeGreaterThan(7_000_000);
    await expect.poll(() => statusAt(one, renewed.token)).toBe(200);
    // For as long as it would have been valid anyway, but a minute at most.
    expect(await statusAt(one, token)).toBe(200);
    await grant(one, 'revoke', id);
    await expect.poll(() => statusAt(two, renewed.token)).toBe(401);
    expect((await renew(id, two.ownerToken)).status).toBe(422);
    // Ids that are no keys of the store, and those that would be more than one.
    for (const odd of ['*', '%3E', 'a..b', '%0D%0A', '__proto__', `${id}.x`])
      expect([odd, (await renew(odd, two.ownerToken)).status]).toEqual([odd, 422]);
  });

  it('are live at no hub when one has revoked what another renews at that moment, or what had expired', { tags: ['P-616'] }, async () => {
    const ask = async (hub: ServedHub, path: string, request: Pick<HubRequestOptions, 'body' | 'method'> = {}) => {
      const response = await hub.request(`/api/v1/hub/grants${path}`, { token: hub.ownerToken, ...request });
      return {
        status: response.status,
        answer: (await response.json()) as { token: string; grant: { id: string }; grants: { id: string }[] },
      };
    };
    const ids: string[] = [];
    let last = '';
    for (let times = 0; times < 20; times++) {
      const { id } = (await ask(one, '', { body: {} })).answer.grant;
      ids.push(id);
      const [revoked, renewed] = await Promise.all([ask(one, `/${id}`, { method: 'DELETE' }), ask(two, `/${id}/renew`, { body: {} })]);
      expect([200, 422]).toContain(renewed.status);
      expect(revoked.status).toBe(200);
      last = renewed.answer.token ?? last;
    }
    const live = async (hub: ServedHub) => (await ask(hub, '')).answer.grants.filter(({ id }) => ids.includes(id));
    for (const hub of [one, two]) await expect.poll(() => live(hub)).toEqual([]);
    if (last !== '') expect(await statusAt(two, last)).toBe(401);

    const { token, grant: expired } = (await ask(one, '', { body: { ttl_seconds: 1 } })).answer;
    await expect.poll(() => statusAt(two, token)).toBe(401);
    expect((await grant(two, 'revoke', expired.id)).stdout).toBe(`Revoked ${expired.id}.\n`);
    await expect.poll(async () => (await ask(one, `/${expired.id}/renew`, { body: {} })).status).toBe(422);
  });

  it('are not issued into a file where no hub runs, and the command says what to start', { tags: ['P-551'] }, async () => {
    const { home, env } = createHome();
    try {
      mkdirSync(join(home, 'config/notebridge'), { recursive: true });
      const config = { notebridge: { cluster: { url: nats.url, name: 'many' } } };
      writeFileSync(join(home, 'config/notebridge/mcp.json'), JSON.stringify(config));
      const { ending, stdout, stderr } = await runProgram(['grant'], { env: { ...env, XDG_CONFIG_HOME: join(home, 'config') } });
      expect(ending).not.toBe(0);
      expect(stdout).toBe('');
      expect(stderr).toContain('those of the cluster "many", and no hub of yours runs');
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  it('refuse with 503 while NATS is away, and the owner goes on working', { timeout: 240_000, tags: ['deep', 'P-550'] }, async () => {
    const { token } = JSON.parse((await grant(one, '--json')).stdout) as { token: string };
    expect(await statusAt(two, token)).toBe(200);
    await nats.nodes[0]?.kill();
    // Each by itself, when what it knows is five seconds old.
    for (const hub of [one, two]) await expect.poll(() => statusAt(hub, token)).toBe(503);
    const refused = await fetch(`${one.url}/api/v1/mcp/proxy/shop/tools/plain`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"arguments":{}}',
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await refused.json()).toMatchObject({ error_code: 'cluster_unavailable' });
    expect(await statusAt(two, two.ownerToken)).toBe(200);
    await nats.nodes[0]?.start();
    await expect.poll(() => statusAt(two, token)).toBe(200);
  });
});
