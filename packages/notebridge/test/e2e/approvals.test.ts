import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Asked, type AskedAgent, openAtHub, openOnStdio } from '../support/asked-agent.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { programFile } from '../support/program.js';
import { ServedHub, type ServersForTest } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-approvals-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const shop = (more: JsonObject = {}): ServersForTest => ({
  shop: { command: process.execPath, args: [fixtureServer('approvals.mjs'), join(folder, 'calls')], ...more },
});
/** What reached the server. */
const calls = (): unknown[] => {
  const file = join(folder, 'calls');
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
    : [];
};
const accept = (decision: string) => ({ action: 'accept', content: { decision } });
const auditOf = (hub: ServedHub): JsonObject[] =>
  readFileSync(join(hub.stateDir, 'audit.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject)
    .filter(({ event }) => event === undefined);

/** A line is written soon after its call has ended. */
const untilAudited = (hub: ServedHub, count: number) => vi.waitFor(() => expect(auditOf(hub)).toHaveLength(count), { timeout: 45_000 });

interface Waiting extends JsonObject {
  id: string;
}
/** The calls that wait at the hub, as soon as there are so many. */
async function waiting(hub: ServedHub, count = 1): Promise<Waiting[]> {
  await hub.until(() => hub.log().filter(({ msg }) => String(msg).startsWith('A call waits for your approval')).length >= count);
  return listed(hub);
}

async function listed(hub: ServedHub): Promise<Waiting[]> {
  const response = await hub.request('/api/v1/hub/approvals', { token: hub.ownerToken });
  return ((await response.json()) as { approvals: Waiting[] }).approvals;
}

/** As `notebridge approvals` decides, without a process of its own for each. */
async function decide(hub: ServedHub, one: Waiting | undefined, decision: 'once' | 'deny'): Promise<void> {
  const response = await hub.request(`/api/v1/hub/approvals/${one?.id}`, { token: hub.ownerToken, body: { decision } });
  expect(await response.text()).toContain(String(one?.id));
}

describe.each(['legacy', 'modern'] as const)('an agent of the %s era', (era) => {
  const inCore = era === 'legacy' ? 'stdio' : 'HTTP';
  const doors: Record<string, (answer: (asked: Asked) => JsonObject) => Promise<AskedAgent & { hub?: ServedHub }>> = {
    stdio: (answer) => openOnStdio(shop({ approve: 'destructive' }), { era, answer }),
    HTTP: async (answer) => {
      const hub = await ServedHub.start({ servers: shop(), notebridge: { approve: 'destructive' }, args: ['--notebook', 'none'] });
      const agent = await openAtHub(hub, { era, answer });
      const close = async (): Promise<void> => {
        await agent.close();
        await hub[Symbol.asyncDispose]();
      };
      return { ...agent, close, hub };
    },
  };

  for (const { cells, tags } of coreAndDeep(Object.keys(doors), (door) => door === inCore))
    it.each(cells)(
      'a person at %s is asked before what may destroy something, and only then',
      { tags: [...tags, 'P-421'] },
      async (door) => {
        const answers: JsonObject[] = [{ action: 'decline' }, accept('once'), { action: 'cancel' }, accept('nonsense'), accept('session')];
        const agent = await (doors[door] as (typeof doors)[string])(() => answers.shift() ?? { action: 'decline' });
        try {
          expect(await agent.call('shop__read')).toBe('read done');
          expect(await agent.call('shop__add', { n: 1 })).toBe('add done');
          expect(await agent.call('shop__odd')).toBe('odd done');
          expect(agent.asked).toEqual([]);
          await expect(agent.call('shop__remove', { id: 7 })).rejects.toThrow('the person who was asked declined');
          expect(await agent.call('shop__remove', { id: 7 })).toBe('remove done');
          await expect(agent.call('shop__plain')).rejects.toThrow('declined');
          await expect(agent.call('shop__plain')).rejects.toThrow('declined');
          expect(await agent.call('shop__plain', { all: true })).toBe('plain done');
          // For this session: not asked again, but for another tool.
          expect(await agent.call('shop__plain', { all: false })).toBe('plain done');
          await expect(agent.call('shop__remove', { id: 8 })).rejects.toThrow('declined');
          expect(agent.asked).toHaveLength(6);
          const [first] = agent.asked;
          expect(first).toMatchObject({ method: 'elicitation/create', params: { requestedSchema: { required: ['decision'] } } });
          const text = String(first?.params.message);
          for (const part of ['Server: "shop"', 'Tool: "remove"', '"id": 7', 'an agent that calls itself "asked"', 'your own rights'])
            expect(text).toContain(part);
          expect(calls()).toEqual([
            ['read', {}],
            ['add', { n: 1 }],
            ['odd', {}],
            ['remove', { id: 7 }],
            ['plain', { all: true }],
            ['plain', { all: false }],
          ]);
        } finally {
          await agent.close();
        }
      },
    );
});

for (const { cells, tags } of coreAndDeep(['legacy', 'modern'] as const, (era) => era === 'legacy'))
  it.each(cells)(
    'an agent of the %s era that shows no forms is told that its call waits for the owner',
    { tags: [...tags, 'P-489'] },
    async (era) => {
      await using hub = await ServedHub.start({ servers: shop(), notebridge: { approve: 'writes' }, args: ['--notebook', 'none'] });
      const told: (string | undefined)[] = [];
      const agent = await openAtHub(hub, { era, capabilities: {}, onProgress: (message) => told.push(message) });
      try {
        const calling = agent.call('shop__add', { n: 1 });
        const [first] = await waiting(hub);
        await expect.poll(() => told).toEqual(['Waits for the owner of the hub to approve it: notebridge approvals']);
        await decide(hub, first, 'once');
        expect(await calling).toBe('add done');
      } finally {
        await agent.close();
      }
    },
  );

describe('code that calls over HTTP', () => {
  const issue = async (hub: ServedHub, ...terms: string[]): Promise<string> => (await hub.grant(...terms)).token;

  it('waits until its owner approves or denies it, and is told what was refused by a code', {
    tags: ['P-422', 'P-424', 'P-429'],
  }, async () => {
    await using hub = await ServedHub.start({ servers: shop(), notebridge: { approve: 'writes' }, args: ['--notebook', 'none'] });
    const token = await issue(hub, '--calls', '2', '--label', 'a script');
    expect((await hub.call('shop', 'read', {}, token)).answer).toMatchObject({ success: true });
    const denied = hub.call('shop', 'add', { n: 1 }, token);
    const [first] = await waiting(hub);
    expect(first).toMatchObject({ server: '"shop"', tool: '"add"', caller: expect.stringContaining('("a script")') });
    const shown = (await hub.run('approvals')).stdout;
    for (const part of [String(first?.id), '"add" of "shop"', '"n": 1']) expect(shown).toContain(part);
    expect(await hub.run('approvals', '--deny', String(first?.id))).toMatchObject({ ending: 0, stdout: expect.stringContaining('Denied') });
    expect(await hub.run('approvals', '--show', String(first?.id))).toMatchObject({
      ending: 1,
      stderr: expect.stringContaining('No call waits'),
    });
    expect((await denied).answer).toMatchObject({ success: false, error_code: 'not_approved', error: expect.stringContaining('declined') });
    // It cost the grant nothing: one of two calls is left.
    const long = `${'x'.repeat(1_000_000)} and its end`;
    const approved = hub.call('shop', 'add', { n: 2, long }, token);
    const [second] = await waiting(hub, 2);
    expect(String(second?.arguments).length).toBeLessThan(6000);
    expect((await hub.run('approvals', '--show', String(second?.id))).stdout).toContain(`  "long": "${long}"\n`);
    await hub.run('approvals', '--approve', String(second?.id));
    expect((await approved).answer).toMatchObject({ success: true });
    expect((await hub.call('shop', 'add', {}, token)).answer).toMatchObject({
      error_code: 'budget_exhausted',
      error: expect.stringContaining('all of its 2 calls are used'),
    });
    expect(await hub.run('approvals', '--approve', String(second?.id))).toMatchObject({
      ending: 1,
      stderr: expect.stringContaining('No call waits'),
    });
    expect(calls()).toEqual([
      ['read', {}],
      ['add', { n: 2, long }],
    ]);
    await untilAudited(hub, 4);
    expect(auditOf(hub).map(({ tool, outcome, approved_by }) => [tool, outcome, approved_by])).toEqual([
      ['read', 'ok', undefined],
      ['add', 'not_approved', undefined],
      ['add', 'ok', 'owner'],
      ['add', 'budget_exhausted', undefined],
    ]);
  });

  it('may be approved for its session, is asked anew after it failed, and shows nobody but the owner what waits', {
    tags: ['deep', 'P-422'],
  }, async () => {
    await using hub = await ServedHub.start({
      servers: shop({ approve: 'listed', tools: { approve: ['re*'] } }),
      args: ['--notebook', 'none'],
    });
    const [token, other] = [await issue(hub), await issue(hub)];
    // A list of names means what it names, whatever that says of itself.
    expect((await hub.call('shop', 'plain', {}, token)).answer).toMatchObject({ success: true });
    const failing = hub.call('shop', 'remove', { fails: true }, token);
    const [first] = await waiting(hub);
    for (const bad of [undefined, token]) {
      const options = bad === undefined ? {} : { token: bad };
      expect((await hub.request('/api/v1/hub/approvals', options)).status).toBe(bad === undefined ? 401 : 403);
      const body = { decision: 'once' };
      expect((await hub.request(`/api/v1/hub/approvals/${first?.id}`, { ...options, body })).status).toBe(bad === undefined ? 401 : 403);
    }
    const owner = { token: hub.ownerToken };
    for (const body of [{}, { decision: 'yes' }, [], { decision: ['once'] }])
      expect((await hub.request(`/api/v1/hub/approvals/${first?.id}`, { ...owner, body })).status).toBe(422);
    await hub.run('approvals', '--approve', String(first?.id));
    expect((await failing).answer).toMatchObject({ success: false, is_error: true });
    const again = [hub.call('shop', 'remove', { n: 1 }, token), hub.call('shop', 'remove', { n: 2 }, token)];
    const others = hub.call('shop', 'remove', { n: 3 }, other);
    const all = await waiting(hub, 4);
    expect(all).toHaveLength(3);
    const mine = all.find(({ arguments: args }) => String(args).includes('"n": 1'));
    await hub.run('approvals', '--approve-session', String(mine?.id));
    for (const call of again) expect((await call).answer).toMatchObject({ success: true });
    // Of another grant.
    const [left] = await listed(hub);
    await decide(hub, left, 'deny');
    expect((await others).answer).toMatchObject({ error_code: 'not_approved' });
    expect((await hub.call('shop', 'remove', { n: 4 }, token)).answer).toMatchObject({ success: true });
  });

  it('is refused when nobody answers in time; a refused one is not kept for its key', { tags: ['P-423'] }, async () => {
    await using hub = await ServedHub.start({
      servers: shop(),
      notebridge: { approve: 'writes', limits: { answerTimeoutMs: 500 } },
      args: ['--notebook', 'none'],
    });
    const late = await hub.call('shop', 'add', {}, hub.ownerToken);
    expect(late.answer).toMatchObject({ error_code: 'not_approved', error: expect.stringContaining('in time') });
    const keyed = { token: hub.ownerToken, body: { arguments: {} }, headers: { 'idempotency-key': 'once' } };
    const path = '/api/v1/mcp/proxy/shop/tools/add';
    const answers = await Promise.all([1, 2].map(async () => (await hub.request(path, keyed)).json()));
    for (const answer of answers) expect(answer).toMatchObject({ error_code: 'not_approved' });
    hub.writeConfig(shop(), { approve: 'none' });
    await hub.logged('The config was changed.');
    expect(await (await hub.request(path, keyed)).json()).toMatchObject({ success: true });
    expect(calls()).toEqual([['add', {}]]);
  });

  it('leaves nothing behind when it hangs up, and is refused when the hub ends', { tags: ['deep', 'P-423'] }, async () => {
    await using hub = await ServedHub.start({ servers: shop({ approve: 'writes' }), args: ['--notebook', 'none'] });
    const hangsUp = new AbortController();
    const path = '/api/v1/mcp/proxy/shop/tools/add';
    const headers = { authorization: `Bearer ${hub.ownerToken}`, 'content-type': 'application/json' };
    const gone = fetch(new URL(path, hub.url), { method: 'POST', headers, body: '{"arguments":{"n":1}}', signal: hangsUp.signal });
    expect(await waiting(hub)).toHaveLength(1);
    hangsUp.abort();
    await expect(gone).rejects.toThrow();
    await untilAudited(hub, 1);
    expect(await listed(hub)).toEqual([]);
    const stays = hub.call('shop', 'add', { n: 2 }, hub.ownerToken).catch((error: unknown) => error);
    await waiting(hub, 2);
    expect(await hub.stop('SIGINT')).toBe(0);
    await stays;
    expect(calls()).toEqual([]);
    expect(auditOf(hub).map(({ outcome }) => outcome)).toEqual(['not_approved', 'not_approved']);
  });

  it('is asked about as the config says now', { tags: ['deep', 'P-420'] }, async () => {
    await using hub = await ServedHub.start({ servers: shop(), args: ['--notebook', 'none'] });
    const token = await issue(hub, '--read-only');
    expect((await hub.call('shop', 'plain', {}, hub.ownerToken)).answer).toMatchObject({ success: true });
    expect((await hub.call('shop', 'read', {}, token)).answer).toMatchObject({ success: true });
    hub.writeConfig(shop({ trusted: false }), { approve: 'destructive' });
    await hub.logged('The config was changed.');
    // What it says of itself counts for nothing, for read-only grants neither.
    const reading = hub.call('shop', 'read', {}, hub.ownerToken);
    const [first] = await waiting(hub);
    await decide(hub, first, 'once');
    expect((await reading).answer).toMatchObject({ success: true });
    expect((await hub.call('shop', 'read', {}, token)).answer).toMatchObject({ error_code: 'denied' });
  });
});

/** Runs a program on a terminal of its own. */
const onTerminal = ['-c', 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'];

describe('the command `call`', () => {
  it('a call that a person types on a terminal is approved by that', { tags: ['P-422'] }, async ({ skip }) => {
    skip(process.platform === 'win32', 'Python has no terminals on Windows');
    await using hub = await ServedHub.start({ servers: shop({ approve: 'writes' }), args: ['--notebook', 'none'] });
    for (const more of [[], ['--standalone', '--config', hub.configFile]]) {
      const args = [...onTerminal, process.execPath, programFile, 'call', ...more, 'shop', 'add', '{"n":1}'];
      const { status, stdout } = spawnSync('python3', args, { env: hub.env, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
      expect([status, stdout]).toEqual([0, expect.stringContaining('"n": 1')]);
    }
    await untilAudited(hub, 2);
    expect(auditOf(hub).map(({ outcome, approved_by }) => [outcome, approved_by])).toEqual([
      ['ok', 'owner'],
      ['ok', 'owner'],
    ]);
  });

  it('waits for the owner like any caller where it was not typed on a terminal, and without a hub says who could answer', {
    tags: ['deep', 'P-422'],
  }, async () => {
    await using hub = await ServedHub.start({ servers: shop({ approve: 'writes' }), args: ['--notebook', 'none'] });
    const calling = hub.run('call', 'shop', 'add', '{"n":1}');
    const [first] = await waiting(hub);
    await decide(hub, first, 'once');
    expect(await calling).toMatchObject({ ending: 0, stdout: expect.stringContaining('"n": 1') });
    const typed = await hub.request('/api/v1/mcp/proxy/shop/tools/add', {
      token: hub.ownerToken,
      body: { arguments: { n: 2 } },
      headers: { 'notebridge-typed': 'true' },
    });
    expect(await typed.json()).toMatchObject({ success: true });
    const { token } = await hub.grant();
    const notTyped = hub.request('/api/v1/mcp/proxy/shop/tools/add', {
      token,
      body: { arguments: {} },
      headers: { 'notebridge-typed': 'true' },
    });
    const [second] = await waiting(hub, 2);
    await decide(hub, second, 'deny');
    expect(await (await notTyped).json()).toMatchObject({ error_code: 'not_approved' });
    const alone = await hub.run('call', '--standalone', '--config', hub.configFile, 'shop', 'add', '{"n":3}');
    expect(alone).toMatchObject({ ending: 1, stderr: expect.stringContaining('nobody can be asked') });
    expect(calls()).toEqual([
      ['add', { n: 1 }],
      ['add', { n: 2 }],
    ]);
  });
});
