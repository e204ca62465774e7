import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Caller, ParentCall } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { toTextResult } from '@notebridge/protocol/core/mcp';
import { MemoryToolServer, MemoryToolServers } from '@notebridge/protocol/core/memory-tool-server';
import { owner } from '@notebridge/protocol/core/principal';
import type { JsonObject } from '@notebridge/protocol/json';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Admission } from '../../grants/admission.js';
import { AuditLog } from '../../grants/audit-log.js';
import { Delegations } from '../../grants/delegations.js';
import { GrantStore } from '../../grants/grant-store.js';
import { createGuard } from '../../grants/guard.js';
import { Hub } from '../../hub.js';
import { createKernelDoor } from './kernel-door.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'notebridge-kernel-door-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it('makes a call in the course of another: the audit names that, and its agent is asked', async () => {
  const store = await GrantStore.open({ dir });
  const delegations = new Delegations();
  const audit = new AuditLog({ path: join(dir, 'audit.jsonl'), redactor: new Redactor() });
  const hub = new Hub();
  const admission = new Admission({ store, delegations });
  hub.addMiddleware(createGuard({ admission, audit, resolve: () => undefined, findTool: () => undefined }));
  const servers = new MemoryToolServers();
  servers.add(
    new MemoryToolServer({
      name: 'shop',
      tools: [
        {
          name: 'order',
          inputSchema: {},
          run: async (_, { ask, clientCapabilities }) => {
            const answer = await ask?.(
              { method: 'elicitation/create', params: { message: 'Which?' } },
              { cancellation: new Cancellation(), timeoutMs: 1000 },
            );
            return toTextResult(JSON.stringify({ answer, clientCapabilities }));
          },
        },
      ],
    }),
  );
  const door = createKernelDoor({ hub, servers });
  const caller: Caller = { sessionId: 'agent', door: 'stdio', era: 'legacy', clientInfo: { name: 'an agent' } };
  const asked: unknown[] = [];
  const parent: ParentCall = {
    callId: 'execute-7',
    caller,
    asker: {
      clientCapabilities: { elicitation: {} },
      ask: async (during, question) => {
        asked.push(during, question);
        return { action: 'accept', content: { size: 'large' } };
      },
    },
  };
  const rights = delegations.delegate([owner], { label: 'execute-7', allow: ['shop:*'] });
  const call = async (options: { parent?: ParentCall } = {}): Promise<JsonObject> =>
    JSON.parse(
      await door.call(
        { server: 'shop', tool: 'order', body: '{"arguments":{}}' },
        { principal: rights.principal, signal: new AbortController().signal, ...options },
      ),
    ) as JsonObject;
  const answered = await call({ parent });
  expect(answered.result).toEqual({
    answer: { action: 'accept', content: { size: 'large' } },
    clientCapabilities: { elicitation: {} },
  });
  expect(asked).toEqual(['execute-7', { method: 'elicitation/create', params: { message: 'Which?' } }]);
  expect((await call()).result).toEqual({});
  rights.end();
  expect(await call({ parent })).toMatchObject({ success: false, error_code: 'bad_grant' });
  audit.flush();
  const lines = (await readFile(join(dir, 'audit.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
  expect(lines.map(({ parent: named, label, outcome }) => [named, label, outcome])).toEqual([
    ['execute-7', 'execute-7', 'ok'],
    [undefined, 'execute-7', 'ok'],
    ['execute-7', undefined, 'bad_grant'],
  ]);
  audit.close();
  await store.close();
});

it('gives code the instance of a server that the agent has in whose call it runs', async () => {
  const servers = new MemoryToolServers();
  const seen: string[] = [];
  const run = async (_: JsonObject, { caller }: { caller: Caller }) => {
    seen.push(caller.sessionId);
    return toTextResult('seen');
  };
  servers.add(new MemoryToolServer({ name: 'shop', tools: [{ name: 'look', inputSchema: {}, run }] }));
  const door = createKernelDoor({ hub: new Hub(), servers });
  const parent: ParentCall = { callId: '1', caller: { sessionId: 'agent', door: 'stdio', era: 'legacy', clientInfo: undefined } };
  const call = { server: 'shop', tool: 'look', body: '{"arguments":{}}' };
  const { signal } = new AbortController();
  for (const grantId of ['d_1', 'd_2']) await door.call(call, { principal: { kind: 'grant', grantId }, signal, parent });
  await door.call(call, { principal: owner, signal });
  expect(seen).toEqual(['agent', 'agent', door.sessionOf(owner)]);
});
