import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hangsAfterMs } from '../support/hangs-after.js';
import { expectEndInTime, openAllStreams } from '../support/open-streams.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

describe('what runs for a grant that ends', () => {
  let folder: string;
  let file: string;
  let hub: ServedHub;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'grants-end-'));
    file = join(folder, 'calls');
    const long = { command: process.execPath, args: [fixtureServer('goes-on.mjs'), file] };
    hub = await ServedHub.start({ servers: { long }, notebridge: { approve: 'writes' }, args: ['--notebook', 'none'] });
  });
  afterAll(async () => {
    await hub?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = async (path: string, body?: JsonObject): Promise<JsonObject> =>
    (await (await hub.request(`/api/v1/hub${path}`, { token: hub.ownerToken, body })).json()) as JsonObject;

  it('is cancelled at its server, and every stream ends, within a second of the command', { tags: ['P-644'] }, async () => {
    const [agent, tools] = [await hub.grant('--agent'), await hub.grant()];
    const streams = await openAllStreams(hub, { agent: agent.token, tools: tools.token }, 'revoked');
    const end = async (): Promise<number> => {
      expect((await hub.run('grant', 'revoke', agent.id, tools.id)).ending).toBe(0);
      return performance.now();
    };
    const late = await expectEndInTime([{ by: 'revoked', streams }], { end, file });
    process.stdout.write(`Streams ended ${late.join(', ')} ms after the grant was revoked.\n`);
    const { agents } = await ask('/agents');
    expect(agents).toEqual([]);
  });

  it('ends in time also while the hub ends, where it is revoked by command and by the owner’s API', {
    tags: ['P-644', 'P-711'],
  }, async () => {
    const long = { command: process.execPath, args: [fixtureServer('goes-on.mjs'), file] };
    const ending = await ServedHub.start({ servers: { long }, notebridge: { drainMs: hangsAfterMs }, args: ['--notebook', 'none'] });
    onTestFinished(() => ending[Symbol.asyncDispose]());
    const [agent, tools] = [await ending.grant('--agent'), await ending.grant()];
    const streams = await openAllStreams(ending, { agent: agent.token, tools: tools.token }, 'draining');
    const end = async (): Promise<number> => {
      ending.child.kill('SIGTERM');
      await ending.logged('may still end');
      const asOwner = { token: ending.ownerToken, method: 'DELETE' };
      expect((await ending.request(`/api/v1/hub/grants/${tools.id}`, asOwner)).status).toBe(200);
      expect((await ending.run('grant', 'revoke', agent.id)).ending).toBe(0);
      return performance.now();
    };
    await expectEndInTime([{ by: 'draining', streams }], { end, file });
    expect(await ending.ended).toBe(0);
  });

  it('ends as well when its time is over', { tags: ['P-644'] }, async () => {
    const issue = async (door: string) =>
      (await ask('/grants', { door, ttl_seconds: 4 })) as { token: string; grant: { expires_at: string } };
    const [agent, tools] = [await issue('agent'), await issue('tools')];
    const streams = await openAllStreams(hub, { agent: agent.token, tools: tools.token }, 'expired');
    const leftMs = Date.parse(tools.grant.expires_at) - Date.now();
    const over = performance.now() + leftMs;
    await expectEndInTime([{ by: 'expired', streams }], { end: () => Promise.resolve(over), file });
  });

  it('is known by the audit, which has who was given what, and when that was taken away', { tags: ['P-735'] }, async () => {
    const { id, token } = await hub.grant('--allow', 'long:*', '--label', 'for the audit');
    await ask(`/grants/${id}/renew`, { ttl_seconds: 60 });
    await hub.run('grant', 'revoke', id);
    const lines = (): JsonObject[] =>
      linesOf(join(hub.stateDir, 'audit.jsonl'))
        .map((line) => JSON.parse(line) as JsonObject)
        .filter(({ event, grant_id }) => event !== undefined && grant_id === id);
    await expect.poll(() => lines().map(({ event }) => event)).toEqual(['grant_issued', 'grant_renewed', 'grant_revoked']);
    expect(lines()[0]).toMatchObject({ label: 'for the audit', allow: ['long:*'], door: 'tools', read_only: false, holder: false });
    expect(readFileSync(join(hub.stateDir, 'audit.jsonl'), 'utf8')).not.toContain(token);
  });

  it('asks nobody for approval any more, and a call that was answered meanwhile is not made', { tags: ['P-644'] }, async () => {
    const { token, id } = await hub.grant();
    const calling = hub.call('long', 'change', { by: 'asked' }, token);
    await expect.poll(async () => (await ask('/approvals')).approvals).toHaveLength(1);
    await hub.run('grant', 'revoke', id);
    const { status, answer } = await calling;
    expect([status, JSON.stringify(answer)]).toEqual([401, expect.stringContaining('was revoked')]);
    expect((await ask('/approvals')).approvals).toEqual([]);
    expect(readFileSync(file, 'utf8')).not.toContain('asked');
  });
});
