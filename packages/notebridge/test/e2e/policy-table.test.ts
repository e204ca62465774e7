// @module-tag P-174
// @module-tag P-175

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorTable } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { GrantTerms } from '../../src/grants/grant.js';
import { GrantStore } from '../../src/grants/grant-store.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { type AgentReply, openLegacyAgent, openModernAgent, type SendMessage } from '../support/http-agent.js';
import { classOfMethod, type MethodClass } from '../support/mcp-methods.js';
import { Program } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const startMs = 240_000;
const known: MethodClass[] = ['free', 'call', 'list', 'item', 'everything'];
/** What an agent may send, by who it is. What is not here is refused. */
const allowed: Record<string, readonly MethodClass[]> = {
  owner: [...known, 'unknown'],
  'anonymous with --no-auth': known,
  'grant for everything': known,
  'grant for one tool': ['free', 'call', 'list'],
  'grant for a server, read-only': ['free', 'call', 'list', 'item'],
};
/** What the modern era does not have, to whomever. */
const notModern = ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'];
const methods = Object.getOwnPropertyNames(classOfMethod);

const folder = mkdtempSync(join(tmpdir(), 'notebridge-policy-'));
const reachedFile = join(folder, 'reached');
const recorder = (name: string) => ({ command: process.execPath, args: [fixtureServer('recorder.mjs'), reachedFile, name] });
const servers = { fs: recorder('fs'), db: recorder('db') };
/** What came to the servers, in order. */
const reached = (): string[] => linesOf(reachedFile);

/** Who shows what: a token, none, or one that opens nothing (any more). */
interface Caller {
  hub: ServedHub;
  /** Before an agent has opened its session, and after it. */
  opening: string | undefined;
  token: string | undefined;
  grantId?: string;
}
const agents: Record<string, Caller> = {};
const kernels: Record<string, Caller> = {};
let hub: ServedHub;
let open: ServedHub;
let cells = 0;

beforeAll(async () => {
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: servers }));
  hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
  open = await ServedHub.start({ servers, args: ['--notebook', 'none', '--no-auth'] });
  const store = await GrantStore.open({ dir: hub.stateDir });
  const past = await GrantStore.open({ dir: hub.stateDir, now: () => Date.now() - 3_610_000 });
  for (const [door, callers] of [
    ['agent', agents],
    ['tools', kernels],
  ] as const) {
    const issue = async (terms: GrantTerms): Promise<Caller> => {
      const { token, id } = await store.issue({ ...terms, door });
      return { hub, opening: token, token, grantId: id };
    };
    callers.owner = { hub, opening: hub.ownerToken, token: hub.ownerToken };
    callers['anonymous with --no-auth'] = { hub: open, opening: undefined, token: undefined };
    callers['grant for everything'] = await issue({});
    callers['grant for one tool'] = await issue({ allow: ['fs:read'] });
    callers['grant for a server, read-only'] = await issue({ allow: ['fs'], readOnly: true });
    callers.expired = await issue({});
    callers.revoked = await issue({});
    callers.unknown = { hub, opening: hub.ownerToken, token: `nbg_${'x'.repeat(43)}` };
    callers['nobody without a token'] = { hub, opening: hub.ownerToken, token: undefined };
  }
  // What is listed is known from now on: whose a resource or prompt is.
  for (const each of [hub, open]) {
    const list = openModernAgent(each, () => (each === hub ? hub.ownerToken : undefined));
    for (const method of ['tools/list', 'resources/list', 'prompts/list']) expect((await list(method)).error).toBeUndefined();
  }
  end = async () => {
    for (const { expired, revoked } of [agents, kernels]) {
      if (expired?.grantId === undefined || revoked?.grantId === undefined) throw new Error('Not issued.');
      expired.token = (await past.renew(expired.grantId, 3_600_000)).token;
      await store.revoke(revoked.grantId);
    }
    await past.close();
    await store.close();
  };
}, startMs);
/** Ends what is to have ended. */
let end: () => Promise<void>;
afterAll(async () => {
  await hub?.[Symbol.asyncDispose]();
  await open?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
  console.info(`${cells} cells of method × principal × door`);
});

function paramsOf(method: string, cell: string): JsonObject {
  const name = method.startsWith('prompts/') ? 'fs__greet' : 'fs__read';
  const ref = { type: 'ref/prompt', name: 'fs__greet' };
  const more = { level: 'debug', protocolVersion: '2025-11-25', capabilities: {}, notifications: { toolsListChanged: true } };
  const about: JsonObject =
    method === 'tools/call' || method === 'prompts/get' ? { name } : method.startsWith('resources/') ? { uri: 'note:fs' } : {};
  return { ...about, ...more, ref, argument: { name: 'a', value: '' }, clientInfo: { name: 'table', version: '1' }, _meta: { cell } };
}

function isRefused({ status, error }: AgentReply): boolean {
  if ((error?.data as JsonObject | undefined)?.code === 'denied') return true;
  return status === 401 || status === 403 || error?.code === errorTable.denied.rpcCode || error?.code === errorTable.bad_grant.rpcCode;
}

describe('every method, from everybody', () => {
  const doors: Record<string, Record<string, SendMessage>> = { legacy: {}, modern: {} };

  beforeAll(async () => {
    for (const [name, caller] of Object.entries(agents)) {
      let isOpen = false;
      const asWhom = (): string | undefined => (isOpen ? caller.token : caller.opening);
      (doors.legacy as Record<string, SendMessage>)[name] = await openLegacyAgent(caller.hub, asWhom);
      (doors.modern as Record<string, SendMessage>)[name] = openModernAgent(caller.hub, asWhom);
      isOpen = true;
    }
    await end();
    for (const name of ['expired', 'revoked'])
      await vi.waitUntil(async () => (await doors.modern?.[name]?.('ping'))?.status === 401, { timeout: 45_000 });
  }, startMs);

  for (const { cells: parts, tags } of coreAndDeep(['a third', 'the rest'], (part) => part === 'a third'))
    it.each(parts)(
      'a method (%s) at the doors of agents is refused, unless the table says otherwise',
      { timeout: startMs, tags },
      async (part) => {
        const callers = Object.keys(agents);
        for (const [door, senders] of Object.entries(doors)) {
          for (const [name, send] of Object.entries(senders)) {
            const before = reached().length;
            const check = async (method: string): Promise<void> => {
              const kind = classOfMethod[method] ?? 'unknown';
              const isLive = allowed[name] !== undefined;
              const isAllowed = isLive && ((door === 'modern' && notModern.includes(method)) || allowed[name]?.includes(kind) === true);
              const cell = `${door} / ${name} / ${method}`;
              const reply = await send(method, paramsOf(method, cell));
              cells++;
              // Nothing comes back on a notification: the audit has those that were refused.
              if (isLive && method.startsWith('notifications/')) expect([cell, reply.status]).toEqual([cell, 202]);
              else expect([cell, isRefused(reply), reply]).toEqual([cell, !isAllowed, reply]);
              const marked = reached().filter((line) => line.includes(JSON.stringify(cell)));
              if (!isAllowed) expect(marked).toEqual([]);
              else if (method === 'tools/call') expect([cell, marked.length]).toEqual([cell, 1]);
            };
            // A header cannot end in a space. Who has nothing is refused before the method is looked at: of those each sends every third.
            const isSent = (at: number): boolean => {
              if (allowed[name] === undefined) return (at + callers.indexOf(name)) % 3 === 0;
              const isThird = (at + (door === 'legacy' ? 0 : 1)) % 3 === 0;
              return isThird === (part === 'a third') || methods[at]?.startsWith('notifications/') === true;
            };
            const sent = methods.filter((method, at) => (door === 'legacy' || !method.endsWith(' ')) && isSent(at));
            // Who is refused waits for it.
            if (allowed[name] === undefined) await Promise.all(sent.map(check));
            else for (const method of sent) await check(method);
            // Not even a list: what the owner asks for afterwards is all that has come.
            if (allowed[name] !== undefined) continue;
            expect(await doors.modern?.owner?.('tools/call', { name: 'fs__write', arguments: {} })).toMatchObject({
              status: 200,
              result: {},
            });
            const came = reached()
              .slice(before)
              .map((line) => (JSON.parse(line) as JsonObject).method);
            expect([name, came]).toEqual([name, ['tools/call']]);
          }
        }
      },
    );

  it('leaves a line for each notification that was refused', { tags: ['P-135'] }, async () => {
    const path = join(hub.stateDir, 'audit.jsonl');
    const lines = (): JsonObject[] =>
      readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as JsonObject);
    for (const name of ['grant for everything', 'grant for one tool', 'grant for a server, read-only']) {
      const refused = methods.filter(
        // Progress ends where the connection does: nobody inside has asked an agent for anything.
        (method) =>
          method.startsWith('notifications/') &&
          method !== 'notifications/progress' &&
          allowed[name]?.includes(classOfMethod[method] ?? 'unknown') !== true,
      );
      const told = (): unknown[] => {
        const own = lines().filter(
          ({ grant_id, method }) => grant_id === agents[name]?.grantId && String(method).startsWith('notifications/'),
        );
        return [...new Set(own.filter(({ outcome }) => outcome === 'denied').map(({ method }) => method))].sort();
      };
      await expect.poll(told).toEqual([...refused].sort());
    }
  });

  it('each route of the tool proxy and of the owner’s door does what the table says', {
    timeout: startMs,
    tags: ['deep', 'P-125'],
  }, async () => {
    const call = (path: string): [string, JsonObject] => [`/api/v1/mcp/proxy/${path}`, { arguments: { at: path } }];
    /** Who is answered; everybody else is refused. */
    const routes: [string, JsonObject | undefined, string[]][] = [
      [...call('fs/tools/read'), Object.keys(allowed)],
      [...call('fs/tools/write'), ['owner', 'anonymous with --no-auth', 'grant for everything']],
      [...call('db/read'), ['owner', 'anonymous with --no-auth', 'grant for everything']],
      ['/api/v1/mcp/proxy/servers', undefined, Object.keys(allowed)],
      ['/api/v1/mcp/proxy/bindings/python.tar.gz', undefined, Object.keys(allowed)],
      ['/api/v1/mcp/proxy/bindings/typescript.tar.gz', undefined, Object.keys(allowed)],
      ['/api/v1/hub/servers', undefined, ['owner']],
      ['/api/v1/hub/servers/fs', undefined, ['owner']],
      ['/api/v1/hub/bindings', undefined, ['owner']],
    ];
    for (const [name, { hub: at, token }] of Object.entries(kernels)) {
      for (const [path, body, answered] of routes) {
        const before = reached().length;
        const response = await at.request(path, { ...(token === undefined ? {} : { token }), ...(body === undefined ? {} : { body }) });
        const answer = body === undefined ? {} : ((await response.json()) as JsonObject);
        if (body === undefined) await response.arrayBuffer();
        const isTold = response.status === 401 || response.status === 403 || answer.error_code === 'denied';
        expect([name, path, response.status, isTold]).toEqual([name, path, response.status, !answered.includes(name)]);
        if (isTold) expect(reached().length).toBe(before);
        cells++;
      }
    }
  });

  it('a method of the owner over stdio passes; one of a page is refused and reaches nobody', { timeout: startMs }, async () => {
    await using program = await Program.open({ args: ['--config', join(folder, 'mcp.json')] });
    for (const method of methods) {
      const params = paramsOf(method, `stdio / ${method}`);
      cells++;
      // It goes on until it is cancelled.
      if (method.startsWith('notifications/')) program.notify(method, params);
      else expect([method, isRefused({ status: 200, ...(await program.request(method, params)) })]).toEqual([method, false]);
    }
    await using page = await RawPage.serve(await program.address());
    const before = reached().length;
    for (const method of methods) {
      page.send({ jsonrpc: '2.0', id: `of the page: ${method}`, method, params: paramsOf(method, 'page') });
      await page.until((messages) =>
        messages.some(({ id, error }) => id === `of the page: ${method}` && (error !== undefined || method === 'ping')),
      );
      cells++;
    }
    await program.callTool('fs__write');
    expect(
      reached()
        .slice(before)
        .map((line) => (JSON.parse(line) as JsonObject).method),
    ).toEqual(['tools/call']);
  });

  it('a method of the kernel of the built-in notebook is a tool that nobody has, or refused once its grant is revoked', {
    timeout: startMs,
  }, async () => {
    await using program = await Program.open({ args: ['--notebook', 'local', '--config', join(folder, 'mcp.json')] });
    const tryAll = async (): Promise<string> => {
      const lines = [
        'from generated._calls import call',
        'async def attempt(server, tool):',
        '    try:',
        '        return str(await call(server, tool, {}))',
        '    except Exception as error:',
        '        return str(error.code)',
        `[await attempt(server, tool) for server in ("fs", "mcp", "") for tool in ${JSON.stringify(methods)}] + [await attempt("fs", "read")]`,
      ];
      return JSON.stringify(await program.callTool('run_code', { code: lines.join('\n') }));
    };
    await program.request('tools/list');
    const before = reached().length;
    const live = await tryAll();
    expect(live).toContain('did read');
    const calls = reached()
      .slice(before)
      .map((line) => JSON.parse(line) as { method: string; params: JsonObject });
    // It asks for the list again, in case that a tool is new.
    expect(calls.filter(({ method }) => !['tools/list', 'notifications/initialized'].includes(method))).toMatchObject([
      { method: 'tools/call', params: { name: 'read' } },
    ]);
    const store = await GrantStore.open({ dir: join(program.home, 'state', 'notebridge') });
    for (const { id } of store.list()) await store.revoke(id);
    await store.close();
    const after = reached().length;
    await expect.poll(tryAll, { timeout: 60_000 }).not.toContain('did read');
    const refused = reached().length;
    expect((await tryAll()).match(/denied/g)?.length).toBe(methods.length * 3 + 1);
    expect([refused >= after, reached().length]).toEqual([true, refused]);
    cells += 2 * (methods.length * 3 + 1);
  });
});
