// @module-tag deep

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { snippetsOf } from '../../../../scripts/docs-snippets.mjs';
import { HubCluster } from '../support/hub-cluster.js';
import { Nats, natsProgram, whyNoNats } from '../support/nats.js';
import { createHome } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const guide = fileURLToPath(new URL('../../../../docs/operate/running.md', import.meta.url));
const servers = { calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), '/dev/null'] } };
const args = ['--notebook', 'none'];

/** What the guide says to run, as the user of these hubs. */
function run(name: string, env: Record<string, string>, cwd: string): Promise<unknown> {
  const { code } = snippetsOf(guide).find(({ runs }) => runs === name) ?? expect.fail(`The guide has no ${name}.`);
  return promisify(execFile)('bash', ['--norc', '-euc', code], { env, cwd });
}

function auditOf(hub: ServedHub): JsonObject[] {
  const lines = linesOf(join(hub.stateDir, 'audit.jsonl')).map((line) => JSON.parse(line) as JsonObject);
  return lines.filter(({ event }) => event === undefined);
}

it('what was saved while a hub ran is there in a fresh home: its owner, grants with their calls, and the audit', {
  tags: ['P-733'],
}, async () => {
  const place = mkdtempSync(join(tmpdir(), 'notebridge-backup-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  await using old = await ServedHub.start({ servers, args });
  const used = await old.grant('--label', 'used', '--calls', '3');
  const revoked = await old.grant('--label', 'revoked later');
  expect((await old.call('calls', 'echo', {}, used.token)).status).toBe(200);
  // A call is in the file within the second, what was taken for later ones is given back in five.
  await vi.waitFor(() => expect(readFileSync(join(old.stateDir, 'grants.json'), 'utf8')).toMatch(/"used": ?1\b/), { timeout: 45_000 });
  await vi.waitFor(() => expect(auditOf(old)).toHaveLength(1), { timeout: 45_000 });
  await run('operate-backup', old.env, place);
  expect(statSync(join(place, 'notebridge-state.tgz')).mode & 0o777).toBe(0o600);
  // Of what comes now the copy knows nothing.
  expect((await old.run('grant', 'revoke', revoked.id)).ending).toBe(0);
  const owner = old.ownerToken;
  expect(await old.stop()).toBe(0);

  const own = createHome();
  await run('operate-restore', own.env, place);
  await using restored = await ServedHub.start({ servers, args, own });
  expect(restored.ownerToken).toBe(owner);
  expect(statSync(restored.stateDir).mode & 0o777).toBe(0o700);
  expect(auditOf(restored)).toMatchObject([{ tool: 'echo', grant_id: used.id }]);
  expect(await outcomesOf(restored, used.token, 3)).toEqual(['ok', 'ok', 'budget_exhausted']);
  // As the guide warns, with what it says to do.
  expect((await restored.call('calls', 'echo', {}, revoked.token)).status).toBe(200);
  expect(await restored.stop()).toBe(0);
  rmSync(join(restored.stateDir, 'grants.json'));
  await using again = await ServedHub.start({ servers, args, own });
  expect((await again.call('calls', 'echo', {}, revoked.token)).status).toBe(401);
  expect((await again.call('calls', 'echo', {}, owner)).status).toBe(200);
});

it("the owner's token is another one once it was removed, and the old one opens nothing", async () => {
  const own = createHome();
  await using hub = await ServedHub.start({ servers, args, own });
  const old = hub.ownerToken;
  expect(await hub.stop()).toBe(0);
  rmSync(join(hub.stateDir, 'owner-token'));
  await using next = await ServedHub.start({ servers, args, own });
  expect((await next.call('calls', 'echo', {}, old)).status).toBe(401);
  expect((await next.call('calls', 'echo', {}, next.ownerToken)).status).toBe(200);
});

describe.skipIf(natsProgram === undefined)(`JetStream${whyNoNats}`, () => {
  it('that is put back from a copy has the grants of the cluster, their calls, and the audit of all hubs', {
    timeout: 240_000,
    tags: ['deep', 'P-733'],
  }, async () => {
    const place = mkdtempSync(join(tmpdir(), 'notebridge-backup-'));
    onTestFinished(() => rmSync(place, { recursive: true, force: true }));
    await using cluster = await HubCluster.start({ names: ['a', 'b'], servers: () => servers });
    const [a, b] = [cluster.hub('a'), cluster.hub('b')];
    const grant = await a.grant('--label', 'kept', '--calls', '3');
    expect((await a.call('calls', 'echo', {}, grant.token)).status).toBe(200);
    expect((await b.call('calls', 'echo', {}, b.ownerToken)).status).toBe(200);
    expect([await a.stop(), await b.stop()]).toEqual([0, 0]);
    const audited = auditOf(a).length + auditOf(b).length;
    const [node = expect.fail('There is no server.')] = cluster.nats.nodes;
    await node.kill('SIGTERM');
    cpSync(node.folder, join(place, 'n1'), { recursive: true });

    await using nats = await Nats.start({ jetstream: { store_dir: join(place, 'n1') } });
    const clustered = { cluster: { url: nats.urls, key: cluster.keyFile, hubName: 'c' } };
    await using hub = await ServedHub.start({ servers, notebridge: clustered, args });
    expect(await outcomesOf(hub, grant.token, 3)).toEqual(['ok', 'ok', 'budget_exhausted']);
    expect(await messagesOf(nats, 'notebridge-notebridge-audit')).toBeGreaterThanOrEqual(audited);
  });
});

/** What became of so many calls, one after the other. */
async function outcomesOf(hub: ServedHub, token: string, calls: number): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  for (let call = 0; call < calls; call++) {
    const { answer } = await hub.call('calls', 'echo', {}, token);
    outcomes.push(answer.success === true ? 'ok' : answer.error_code);
  }
  return outcomes;
}

/** How many messages a stream has, by a hub's own client. */
async function messagesOf(nats: Nats, stream: string): Promise<number> {
  const { connect } = await import('@nats-io/transport-node');
  const connection = await connect({ servers: nats.urls });
  try {
    const answer = await connection.request(`$JS.API.STREAM.INFO.${stream}`);
    return (answer.json() as { state: { messages: number } }).state.messages;
  } finally {
    await connection.close();
  }
}
