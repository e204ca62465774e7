import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallObserver } from '@notebridge/protocol/core/call-observer';
import { BridgeError, type ErrorCode, RemoteError } from '@notebridge/protocol/core/errors';
import type { Tool } from '@notebridge/protocol/core/mcp';
import { answer } from '@notebridge/protocol/core/middleware';
import type { Principal } from '@notebridge/protocol/core/principal';
import type { JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { Hub } from '../hub.js';
import { Admission } from './admission.js';
import { ApprovalPolicy, type ApprovalRules } from './approvals/approval-policy.js';
import { Approvals } from './approvals/approvals.js';
import { PendingApprovals } from './approvals/pending-approvals.js';
import { AuditLog } from './audit-log.js';
import type { GrantTerms } from './grant.js';
import { GrantStore } from './grant-store.js';
import { createGuard } from './guard.js';

const tools: Record<string, Tool> = {
  read_file: { name: 'read_file', inputSchema: {}, annotations: { readOnlyHint: true } },
  write_file: { name: 'write_file', inputSchema: {}, annotations: { readOnlyHint: false } },
  odd: { name: 'odd', inputSchema: {}, annotations: { readOnlyHint: 'true' } },
};
let dir: string;
let clock = 0;
let store: GrantStore;
let audit: AuditLog;
let hub: Hub;
/** What came through to the terminal. */
let reached: string[];
let asked: string[];
/** Names that have come to stand for the tool of another server. */
let moved: string[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'notebridge-guard-'));
  clock = 0;
  reached = [];
  asked = [];
  moved = [];
  store = await GrantStore.open({ dir });
  audit = new AuditLog({ path: join(dir, 'audit.jsonl'), redactor: new Redactor() });
  hub = new Hub();
  hub.addMiddleware(
    createGuard({
      admission: new Admission({ store, now: () => clock }),
      audit,
      resolve: (name) => {
        const [server = '', tool] = name.split('__');
        return tool === undefined ? undefined : { server: moved.includes(name) ? 'other' : server, tool };
      },
      findTool: async ({ tool }) => {
        asked.push(tool);
        if (tool === 'moves') moved.push('fs__moves');
        return tools[tool];
      },
      serverOf: (_, name) => /^(\w+):/.exec(name)?.[1],
    }),
  );
});
afterEach(async () => {
  audit.close();
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

const as = (principal: Principal | undefined) => ({
  caller: {
    sessionId: 's',
    door: 'http',
    era: 'legacy',
    clientInfo: undefined,
    ...(principal === undefined ? {} : { principal }),
  } as const,
});
const grant = async (terms: GrantTerms): Promise<Principal> => ({ kind: 'grant', grantId: (await store.issue(terms)).id });
const request = (
  principal: Principal | undefined,
  method: string,
  message: JsonObject,
  result: () => JsonObject | Promise<JsonObject> = () => ({}),
) =>
  hub.request(createContext(method, message, as(principal)), async () => {
    reached.push(method);
    return result();
  });
const call = (principal: Principal | undefined, name: string, result?: () => JsonObject | Promise<JsonObject>) =>
  request(principal, 'tools/call', { name, arguments: { a: 1 } }, result);
const auditLines = async (): Promise<JsonObject[]> => {
  audit.flush();
  const text = await readFile(join(dir, 'audit.jsonl'), 'utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as JsonObject]));
};
const refusedWith = (code: ErrorCode, rule: string, message: string) =>
  expect.objectContaining({ code, data: expect.objectContaining({ rule }), message: expect.stringContaining(message) });

describe('createGuard', () => {
  it('records what the owner reads and asks to be filled in, as it records calls, and no other request', async () => {
    for (const [method, message] of [
      ['resources/read', { uri: 'fs:a' }],
      ['prompts/get', { name: 'fs:p' }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'fs:p' } }],
      ['resources/list', {}],
    ] as const)
      await request({ kind: 'owner' }, method, message);
    expect(await auditLines()).toMatchObject([
      { method: 'resources/read', server: 'fs', outcome: 'ok' },
      { method: 'prompts/get', server: 'fs', outcome: 'ok' },
    ]);
  });

  it('shows who watches what the caller was told of a failed call, and of a fault of ours nothing', async () => {
    const ends: (string | undefined)[][] = [];
    const observer: CallObserver = { isOn: true, begin: () => (outcome, _, error) => void ends.push([outcome, error]) };
    hub = new Hub();
    hub.addMiddleware(createGuard({ admission: new Admission({ store }), observer, resolve: () => undefined, findTool: () => undefined }));
    const faults = [
      new BridgeError('timeout', 'It took too long.'),
      new RemoteError({ code: -32000, message: 'No.' }),
      new Error('/home/me'),
    ];
    for (const fault of faults) await expect(call({ kind: 'owner' }, 'run', () => Promise.reject(fault))).rejects.toBe(fault);
    expect(ends).toEqual([
      ['timeout', 'It took too long.'],
      ['remote_error', 'No.'],
      ['internal', undefined],
    ]);
  });

  it('records of each call its own server, tool and outcome, whatever was recorded just before', async () => {
    for (const name of ['fs__read_file', 'db__read_file', 'db__write_file', 'db__write_file']) await call({ kind: 'owner' }, name);
    await call({ kind: 'owner' }, 'db__write_file', () => ({ isError: true }));
    expect((await auditLines()).map(({ server, tool, outcome }) => [server, tool, outcome].join(' '))).toEqual([
      'fs read_file ok',
      'db read_file ok',
      'db write_file ok',
      'db write_file ok',
      'db write_file tool_error',
    ]);
  });

  it('lets a read-only grant make a call that a person has allowed, once the tool is known to read alone', async () => {
    const admission = new Admission({ store });
    const fs = { name: 'fs', approve: 'listed' as const, trusted: true, tools: { allow: undefined, deny: [], approve: ['*'] } };
    const pending = new PendingApprovals();
    pending.isWatched = true;
    const labelOf = (who: Principal) => admission.rightsOf(who).label;
    const approvals = new Approvals({
      policy: () => new ApprovalPolicy({ approve: 'none', servers: [fs] }, ['notebook']),
      ...{ pending, labelOf, redactor: new Redactor(), logger: silentLogger, timeoutMs: 60_000 },
    });
    hub = new Hub();
    const resolve = (name: string) => ({ server: 'fs', tool: name });
    hub.addMiddleware(createGuard({ admission, approvals, resolve, findTool: ({ tool }) => tools[tool] }));
    const readOnly = await grant({ allow: ['fs:*'], readOnly: true });
    const called = call(readOnly, 'read_file');
    await expect.poll(() => pending.list()).toHaveLength(1);
    pending.decide(pending.list()[0]?.id ?? '', 'once');
    await called;
    expect(reached).toHaveLength(1);
  });

  it('takes nothing from the budget of a grant for a call that a person did not allow', async () => {
    const rules: ApprovalRules = { approve: 'writes', servers: [] };
    const admission = new Admission({ store });
    const approvals = new Approvals({
      policy: () => new ApprovalPolicy(rules, ['notebook']),
      timeoutMs: 60_000,
      pending: new PendingApprovals(),
      labelOf: (who) => admission.rightsOf(who).label,
      redactor: new Redactor(),
      logger: silentLogger,
    });
    hub = new Hub();
    hub.addMiddleware(
      createGuard({ admission, approvals, resolve: () => ({ server: 'fs', tool: 'write_file' }), findTool: () => undefined }),
    );
    const once = await grant({ allow: ['fs:*'], calls: 1 });
    await expect(call(once, 'fs__write_file')).rejects.toMatchObject({ code: 'not_approved' });
    rules.approve = 'none';
    await call(once, 'fs__write_file');
    await expect(call(once, 'fs__write_file')).rejects.toEqual(refusedWith('budget_exhausted', 'calls', 'all of its 1 calls are used'));
    expect(reached).toHaveLength(1);
  });

  it('lets the owner, and anonymous where it is let in, call everything, and records it', async () => {
    await call(undefined, 'get_cells');
    await call({ kind: 'owner' }, 'fs__write_file');
    await call({ kind: 'anonymous' }, 'fs__write_file');
    expect(reached).toHaveLength(3);
    expect(asked).toEqual([]);
    expect(await auditLines()).toMatchObject([
      { principal: 'owner', server: 'notebook', tool: 'get_cells', outcome: 'ok' },
      { principal: 'owner', server: 'fs', tool: 'write_file' },
      { principal: 'anonymous', server: 'fs', tool: 'write_file' },
    ]);
  });

  it('holds a grant to its tools and names the rule', { tags: ['P-126'] }, async () => {
    const github = await grant({ allow: ['github:*'], label: 'ci' });
    await call(github, 'github__star');
    for (const name of ['fs__read_file', 'github', 'github_star', 'GITHUB__star', '', '__star']) {
      await expect(call(github, name)).rejects.toEqual(refusedWith('denied', 'allow', 'allows `github:*` only'));
    }
    expect(reached).toHaveLength(1);
    const lines = await auditLines();
    expect(lines[0]).toMatchObject({ principal: 'grant', label: 'ci', outcome: 'ok' });
    expect(lines.slice(1).map(({ outcome }) => outcome)).toEqual(Array.from({ length: 6 }, () => 'denied'));
  });

  it('goes by what the door aims at, not by the name in the message', async () => {
    const github = await grant({ allow: ['github:*'] });
    const aimed = createContext('tools/call', { name: 'github__star' }, { ...as(github), target: { server: 'fs', tool: 'write_file' } });
    await expect(hub.request(aimed, async () => ({}))).rejects.toMatchObject({ code: 'denied' });
  });

  it.each([[['fs__read_file']], [[['fs__read_file']]], [{ toString: 'fs__read_file' }], [5], [null], [undefined]])(
    'calls no tool for a grant by a name that is no text: %j',
    async (name) => {
      for (const principal of [await grant({ allow: ['notebook'] }), await grant({ allow: ['*:*'] })])
        await expect(request(principal, 'tools/call', { name, arguments: {} })).rejects.toMatchObject({ code: 'unknown_tool' });
      expect(reached).toEqual([]);
      expect((await auditLines()).map(({ outcome }) => outcome)).toEqual(Array(2).fill('unknown_tool'));
    },
  );

  it('holds a read-only grant to tools that are marked so, and asks of no tool that it may not call anyway', {
    tags: ['P-127'],
  }, async () => {
    const reader = await grant({ allow: ['fs'], readOnly: true });
    await call(reader, 'fs__read_file');
    const why = 'is not marked readOnlyHint';
    for (const name of ['write_file', 'odd', 'unknown'])
      await expect(call(reader, `fs__${name}`)).rejects.toEqual(refusedWith('denied', 'readOnly', why));
    await expect(call(reader, 'github__read_file')).rejects.toEqual(refusedWith('denied', 'allow', 'only'));
    expect(asked).toEqual(['read_file', 'write_file', 'odd', 'unknown']);
    expect(reached).toHaveLength(1);
  });

  it('calls nothing when a name has come to stand for another tool while it was looked up', { tags: ['P-354'] }, async () => {
    tools.moves = { name: 'moves', inputSchema: {}, annotations: { readOnlyHint: true } };
    const principal = await grant({ allow: ['fs'], readOnly: true });
    await expect(request(principal, 'tools/call', { name: 'fs__moves' })).rejects.toMatchObject({ code: 'denied' });
    expect([asked, reached]).toEqual([['moves'], []]);
  });

  it('makes exactly as many calls as the budget has, of a thousand at once', async () => {
    const poor = await grant({ calls: 37 });
    const results = await Promise.allSettled(Array.from({ length: 1000 }, () => call(poor, 'x__y')));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(37);
    expect(reached).toHaveLength(37);
    await expect(call(poor, 'x__y')).rejects.toEqual(refusedWith('budget_exhausted', 'calls', 'all of its 37 calls are used'));
  });

  it('holds a grant to its rate, and says when to come again', { tags: ['P-129'] }, async () => {
    const slow = await grant({ perMinute: 6 });
    for (let made = 0; made < 6; made++) await call(slow, 'x__y');
    await expect(call(slow, 'x__y')).rejects.toMatchObject({ code: 'budget_exhausted', data: { rule: 'perMinute', retry_after_s: 10 } });
    clock += 9_999;
    await expect(call(slow, 'x__y')).rejects.toMatchObject({ data: { retry_after_s: 1 } });
    clock += 1;
    await call(slow, 'x__y');
  });

  it('holds a grant to its calls at once, and gives a place back however a call ended', { tags: ['P-129'] }, async () => {
    const narrow = await grant({ concurrent: 2, calls: 6 });
    const endings: ((result: JsonObject | Error) => void)[] = [];
    const hanging = () =>
      new Promise<JsonObject>((resolve, reject) => endings.push((end) => (end instanceof Error ? reject(end) : resolve(end))));
    const calls = [call(narrow, 'x__y', hanging), call(narrow, 'x__y', hanging)];
    await expect(call(narrow, 'x__y')).rejects.toEqual(refusedWith('budget_exhausted', 'concurrent', '2 calls are under way'));
    await expect.poll(() => endings.length).toBe(2);
    endings[0]?.({});
    endings[1]?.(new Error('broken'));
    await Promise.allSettled(calls);
    for (let made = 0; made < 4; made++) await call(narrow, 'x__y');
    await expect(call(narrow, 'x__y')).rejects.toMatchObject({ data: { rule: 'calls' } });
  });

  it('refuses a grant that was revoked since the door let it in', async () => {
    const gone = await grant({});
    await call(gone, 'x__y');
    if (gone.kind === 'grant') await store.revoke(gone.grantId);
    for (const method of ['tools/call', 'tools/list', 'resources/list', 'resources/read', 'ping']) {
      await expect(request(gone, method, { name: 'x__y' })).rejects.toMatchObject({ code: 'bad_grant', data: { reason: 'revoked' } });
    }
  });

  it('records the outcome of a call', { tags: ['P-135'] }, async () => {
    await call(undefined, 'x__y', () => ({ isError: true, content: [] }));
    await call(undefined, 'x__y', () => ({ isError: true, _meta: { 'notebridge/error_code': 'not_connected' } }));
    const failures = [new BridgeError('timeout', 'late'), new RemoteError({ code: -1 }), new Error('secret detail')];
    for (const failure of failures) await expect(call(undefined, 'x__y', () => Promise.reject(failure))).rejects.toBe(failure);
    const outcomes = (await auditLines()).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['tool_error', 'not_connected', 'timeout', 'remote_error', 'internal']);
  });

  it('shows a grant only the tools that it may call', async () => {
    const list = () =>
      answer({
        tools: ['fs__read_file', 'fs__write_file', 'get_cells'].map((name) => ({ ...tools[name.split('__')[1] ?? ''], name })),
        more: 1,
      });
    const namesFor = async (principal: Principal | undefined) => {
      const { tools: listed, more } = await request(principal, 'tools/list', {}, list);
      expect(more).toBe(1);
      return (listed as Tool[]).map(({ name }) => name);
    };
    expect(await namesFor(undefined)).toHaveLength(3);
    expect(await namesFor(await grant({ allow: ['fs'] }))).toEqual(['fs__read_file', 'fs__write_file']);
    expect(await namesFor(await grant({ allow: ['fs', 'notebook'], readOnly: true }))).toEqual(['fs__read_file']);
    expect(await namesFor(await grant({ allow: ['notebook:get_*'] }))).toEqual(['get_cells']);
  });

  it('gives resources and prompts of a server to grants for all of its tools', { tags: ['P-162'] }, async () => {
    const [whole, part, all] = [await grant({ allow: ['fs:*'] }), await grant({ allow: ['fs:read_*'] }), await grant({})];
    const list = () => ({ resources: [{ uri: 'fs:a' }, { uri: 'db:a' }, { uri: '//nobody' }, 7], nextCursor: 'n' });
    const listed = async (principal: Principal) => (await request(principal, 'resources/list', {}, list)).resources;
    expect(await listed(whole)).toEqual([{ uri: 'fs:a' }]);
    expect(await listed(part)).toEqual([]);
    expect(await listed(all)).toHaveLength(4);
    await request(whole, 'resources/read', { uri: 'fs:a' });
    await request(whole, 'prompts/get', { name: 'fs:greet' });
    await request(all, 'resources/read', { uri: '//nobody' });
    for (const [principal, method, params] of [
      [part, 'resources/read', { uri: 'fs:a' }],
      [whole, 'resources/subscribe', { uri: 'db:a' }],
      [whole, 'resources/read', { uri: '//nobody' }],
      [whole, 'resources/read', {}],
      [whole, 'completion/complete', { ref: { type: 'ref/prompt', name: 'db:x' } }],
    ] as const) {
      await expect(request(principal, method, params)).rejects.toMatchObject({ code: 'denied', data: { rule: 'allow' } });
    }
    expect((await auditLines()).filter(({ method }) => method === 'resources/read').map(({ outcome }) => outcome)).toEqual([
      'ok',
      'ok',
      'denied',
      'denied',
      'denied',
    ]);
  });
});
