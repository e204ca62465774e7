// @module-tag P-174
// @module-tag P-175

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '@notebridge/protocol/core/errors';
import type { Principal } from '@notebridge/protocol/core/principal';
import type { JsonObject } from '@notebridge/protocol/json';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { classOfMethod, type MethodClass, methodsOfSdks } from '../../test/support/mcp-methods.js';
import { Hub } from '../hub.js';
import { Admission } from './admission.js';
import { AuditLog } from './audit-log.js';
import { GrantStore } from './grant-store.js';
import { createGuard } from './guard.js';

const methods = Object.getOwnPropertyNames(classOfMethod);
const known: MethodClass[] = ['free', 'call', 'list', 'item', 'everything'];
/** What reaches the inside; all else is refused. */
const reaches: Record<string, readonly MethodClass[]> = {
  owner: [...known, 'unknown'],
  anonymous: known,
  'grant for everything': known,
  'grant for one tool': ['free', 'call', 'list'],
  'grant for a server, read-only': ['free', 'call', 'list', 'item'],
  'grant for another server': ['free', 'list'],
  expired: [],
  revoked: [],
  unknown: [],
};

/** What each method is about: a tool of `fs` that only reads, a resource and a prompt of it. */
const params: JsonObject = { name: 'fs__read', uri: 'fs:a', ref: { type: 'ref/resource', uri: 'fs:a' } };

let dir: string;
let store: GrantStore;
let hub: Hub;
let reached = 0;
const principals: Record<string, Principal> = {};
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'notebridge-methods-'));
  let now = 0;
  store = await GrantStore.open({ dir, now: () => now });
  const issue = async (terms: Parameters<GrantStore['issue']>[0]): Promise<Principal> => ({
    kind: 'grant',
    grantId: (await store.issue(terms)).id,
  });
  principals.expired = await issue({ ttlMs: 1 });
  principals.revoked = await issue({});
  if (principals.revoked.kind === 'grant') await store.revoke(principals.revoked.grantId);
  principals.owner = { kind: 'owner' };
  principals.anonymous = { kind: 'anonymous' };
  principals['grant for everything'] = await issue({ allow: ['*:*'] });
  principals['grant for one tool'] = await issue({ allow: ['fs:read'] });
  principals['grant for a server, read-only'] = await issue({ allow: ['fs'], readOnly: true });
  principals['grant for another server'] = await issue({ allow: ['db'] });
  principals.unknown = { kind: 'grant', grantId: 'g_000000000000' };
  now = 1000;
  hub = new Hub();
  hub.addMiddleware(
    createGuard({
      admission: new Admission({ store }),
      resolve: (name) => ({ server: 'fs', tool: name.replace('fs__', '') }),
      findTool: () => ({ name: 'read', inputSchema: {}, annotations: { readOnlyHint: true } }),
      serverOf: () => 'fs',
    }),
  );
});
afterAll(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

/** What becomes of a message: the code of its refusal, or `reached`. */
async function send(principal: Principal, method: string, type: 'request' | 'notification'): Promise<string> {
  const caller = { sessionId: 's', door: 'http', era: 'legacy', clientInfo: undefined, principal } as const;
  const before = reached;
  const sent = hub.request(createContext(method, params, { type, caller }), async () => {
    reached++;
    return { tools: [], resources: [], resourceTemplates: [], prompts: [] };
  });
  const code = await sent.then(() => 'reached', codeOf);
  // A refusal that comes after the provider was asked would be none.
  expect(reached - before).toBe(code === 'reached' ? 1 : 0);
  return code ?? 'no code';
}

describe('every method of the protocol', () => {
  it('stands in the table', () => {
    expect(methodsOfSdks().length).toBeGreaterThan(30);
    expect(methodsOfSdks().filter((method) => !Object.hasOwn(classOfMethod, method))).toEqual([]);
  });

  it.each(Object.keys(reaches))('is judged, sent by: %s', async (name) => {
    const principal = principals[name] as Principal;
    for (const method of methods) {
      const kind = classOfMethod[method] ?? 'unknown';
      const isMeant = reaches[name]?.includes(kind) === true;
      const refusal = ['expired', 'revoked', 'unknown'].includes(name) && kind !== 'unknown' ? 'bad_grant' : 'denied';
      const right = method.startsWith('notifications/') ? 'notification' : 'request';
      expect([method, await send(principal, method, right)]).toEqual([method, isMeant ? 'reached' : refusal]);
      // A request that is sent as a notification, or the other way round, is another message, for the owner alone.
      const wrong = right === 'request' ? 'notification' : 'request';
      expect([method, await send(principal, method, wrong)]).toEqual([method, name === 'owner' ? 'reached' : 'denied']);
    }
  });
});

it('the audit has a line of what the owner calls, reads or gets as well, and of nothing else that the owner asks', {
  tags: ['P-135'],
}, async () => {
  const lines: string[] = [];
  const audit = new AuditLog({ path: join(dir, 'audit.jsonl'), redactor: new Redactor(), onLine: (line) => lines.push(line) });
  const audited = new Hub();
  const resolve = () => ({ server: 'fs', tool: 'read' });
  audited.addMiddleware(createGuard({ admission: new Admission({ store }), audit, resolve, findTool: () => undefined }));
  const caller = { sessionId: 's', door: 'http', era: 'legacy', clientInfo: undefined, principal: { kind: 'owner' } } as const;
  for (const method of methods) await audited.request(createContext(method, params, { caller }), async () => ({}));
  audit.close();
  // Of a call of a tool, which most lines are of, the line does not say so.
  const found = lines.map((line) => (JSON.parse(line) as { method?: string }).method ?? 'tools/call');
  expect(found.sort()).toEqual(['prompts/get', 'resources/read', 'tools/call']);
});

it('what a grant is shown is not kept for others, since each is shown a part', { tags: ['P-361'] }, async () => {
  const scopesFor = (principal: Principal | undefined) =>
    Promise.all(
      ['tools/list', 'resources/list', 'resources/read'].map(async (method) => {
        const caller = { sessionId: 's', door: 'http', era: 'modern', clientInfo: undefined, ...(principal && { principal }) } as const;
        const shown = async () => ({ tools: [], resources: [], contents: [], ttlMs: 9, cacheScope: 'public' });
        return (await hub.request(createContext(method, { uri: 'fs:a' }, { caller }), shown)).cacheScope;
      }),
    );
  expect(await scopesFor(principals.owner)).toEqual(Array(3).fill('public'));
  expect(await scopesFor(principals['grant for everything'])).toEqual(Array(3).fill('private'));
});

it('a notification of a server is received by those alone who may call all of it', { tags: ['P-060'] }, () => {
  const admission = new Admission({ store });
  const event = { method: 'notifications/message', server: 'fs' };
  const heard = Object.entries(principals).filter(([, principal]) => admission.rightsOf(principal).mayHear(event));
  expect(heard.map(([name]) => name)).toEqual(['owner', 'anonymous', 'grant for everything', 'grant for a server, read-only']);
});

describe('a grant that has ended', () => {
  it('receives no notification of servers', () => {
    const admission = new Admission({ store });
    const event = { method: 'notifications/tools/list_changed' };
    const heard = Object.entries(principals).filter(([, principal]) => admission.rightsOf(principal).mayHear(event));
    expect(heard.map(([name]) => name)).toEqual(Object.keys(principals).filter((name) => (reaches[name]?.length ?? 0) > 0));
  });
});
