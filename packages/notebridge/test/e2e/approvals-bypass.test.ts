// @module-tag P-425

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Asked, openAtHub } from '../support/asked-agent.js';
import { codeDoors } from '../support/code-mode.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { openLegacyAgent, openModernAgent } from '../support/http-agent.js';
import { initialize } from '../support/mcp-http.js';
import { ServedHub, type ServersForTest } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-bypass-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const shop = (more: JsonObject = {}, ...words: string[]): ServersForTest => ({
  shop: { command: process.execPath, args: [fixtureServer('approvals.mjs'), join(folder, 'calls'), ...words], ...more },
});
const calls = (): unknown[] => {
  const file = join(folder, 'calls');
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
    : [];
};
/** Nobody can answer in time, and no agent here can ask. */
const notebridge = { approve: 'writes', limits: { answerTimeoutMs: 300 } };
const none = ['--notebook', 'none'];

describe('no call passes without its approval', () => {
  const spellings: [of: string, more: JsonObject, names: string[]][] = [
    [
      'with a prefix, from the first call on',
      {},
      ['shop__add', 'shop__add ', 'SHOP__add', 'shop__ADD', 'shop_add', 'add', 'shop__shop__add', 'shop:add'],
    ],
    ['of a server that is started by its first call', { lazy: true }, ['shop__add', 'add']],
    ['without a prefix, of a server that is started by its first call', { names: 'plain', lazy: true }, ['add', 'shop__add', 'ADD']],
    ['of a server that only code may call', { expose: 'code' }, ['shop__add', 'add']],
  ];
  for (const { cells, tags } of coreAndDeep(spellings, (_, index) => index === 2))
    it.each(cells)('another spelling of its name gets no call through: %s', { tags }, async (_, more, names) => {
      await using hub = await ServedHub.start({ servers: shop(more), notebridge, args: none });
      for (const send of [await openLegacyAgent(hub, () => hub.ownerToken), openModernAgent(hub, () => hub.ownerToken)])
        for (const name of names)
          expect((await send('tools/call', { name, arguments: {} })).error ?? 'made').toMatchObject({ code: expect.any(Number) });
      const addresses = [
        'shop/tools/add',
        'shop/tools/add%20',
        'SHOP/tools/add',
        'shop/tools/shop__add',
        'shop%2Ftools/tools/add',
        'shop/tools/%61dd',
      ];
      for (const address of addresses) {
        const response = await hub.request(`/api/v1/mcp/proxy/${address}`, { token: hub.ownerToken, body: { arguments: {} } });
        expect(await response.json()).not.toMatchObject({ success: true });
      }
      expect(calls()).toEqual([]);
    });

  it('a call is asked about as a task, in a batch, under another id, or with members that no call has', async () => {
    await using hub = await ServedHub.start({ servers: shop(), notebridge, args: none });
    const legacy = await openLegacyAgent(hub, () => hub.ownerToken);
    const modern = openModernAgent(hub, () => hub.ownerToken);
    const call = { name: 'shop__add', arguments: {} };
    const odd: JsonObject[] = [
      { ...call, task: { ttl: 60_000 } },
      { ...call, requestState: 'made up' },
      { ...call, inputResponses: { 'notebridge-approval': { action: 'accept', content: { decision: 'once' } } } },
      { ...call, _meta: { approved: true, 'notebridge/approved_by': 'owner' } },
      { ...call, isTyped: true, approve: 'none', annotations: { readOnlyHint: true } },
    ];
    for (const params of odd)
      for (const send of [legacy, modern]) expect((await send('tools/call', params)).error).toMatchObject({ code: expect.any(Number) });
    const accept = { accept: 'application/json, text/event-stream' };
    const opened = await hub.request('/mcp', { token: hub.ownerToken, body: initialize(1, '2025-03-26'), headers: accept });
    await opened.text();
    const session = { ...accept, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    const batch = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: call })) as unknown as JsonObject;
    const text = await (await hub.request('/mcp', { token: hub.ownerToken, body: batch, headers: session })).text();
    expect(text).not.toContain('add done');
    expect(calls()).toEqual([]);
    // What is no call of a tool is asked about by nobody.
    expect((await legacy('prompts/get', { name: 'shop__hello' })).result).toMatchObject({ messages: [{}] });
    expect((await legacy('tools/call', { name: 'shop__read', arguments: {} })).result).toMatchObject({ content: [{ text: 'read done' }] });
  });

  it('a tool that has become another while its person was asked is not called', { tags: ['P-424'] }, async () => {
    await using hub = await ServedHub.start({ servers: shop({ tools: { approve: ['remove'] } }, 'moves'), args: none });
    const agent = await openAtHub(hub, {
      era: 'legacy',
      answer: async () => {
        await hub.call('shop', 'plain', {}, hub.ownerToken);
        const listed = async (): Promise<boolean> => (await agent.tools()).includes('shop__gone');
        await expect.poll(listed).toBe(true);
        return { action: 'accept', content: { decision: 'once' } };
      },
    });
    try {
      await expect(agent.call('shop__remove', {})).rejects.toThrow();
      expect(calls()).toEqual([['plain', {}]]);
    } finally {
      await agent.close();
    }
  });
});

const code = `
from generated.mcp.shop import add, read
from generated import ToolError
await read()
said = []
for n in range(2):
    try:
        await add(n=n)
        said.append("made")
    except ToolError as error:
        said.append(error.code)
said
`;

describe('code that an agent runs', () => {
  for (const { cells, tags } of coreAndDeep(codeDoors, ({ name }) => name === 'HTTP, modern')) {
    it.each(cells)(
      'code at $name is told by a code that nobody approved its call; what only reads is made',
      { tags: [...tags, 'P-427'] },
      async ({ open }) => {
        await using agent = await open({ folder, servers: shop(), notebridge, args: [] });
        const answer = await agent.execute({ code });
        expect(JSON.stringify([answer.result, answer.texts])).toMatch(/not_approved.*not_approved/);
        expect(calls()).toEqual([['read', {}]]);
      },
    );
  }

  for (const { cells, tags } of coreAndDeep(['legacy', 'modern'] as const, (era) => era === 'legacy'))
    it.each(cells)(
      'has the person at its %s agent asked, who may approve for the session, that of later executions too',
      { tags: [...tags, 'P-427'] },
      async (era) => {
        await using hub = await ServedHub.start({ servers: shop(), notebridge: { approve: 'writes' }, args: ['--code-mode', ...none] });
        const asked: Asked[] = [];
        const answers = [{ action: 'decline' }, { action: 'accept', content: { decision: 'session' } }];
        const agent = await openAtHub(hub, {
          era,
          answer: (question) => {
            asked.push(question);
            return answers.shift() ?? { action: 'decline' };
          },
        });
        try {
          expect(await agent.call('execute_code', { code })).toMatch(/not_approved.*made/s);
          expect(await agent.call('execute_code', { code })).toMatch(/made.*made/s);
          expect(asked.map(({ params }) => params.message)).toHaveLength(2);
          expect(String(asked[0]?.params.message)).toMatch(/For: code that an agent that calls itself "asked" runs, with the grant d_/);
          expect(calls()).toEqual([
            ['read', {}],
            ['add', { n: 1 }],
            ['read', {}],
            ['add', { n: 0 }],
            ['add', { n: 1 }],
          ]);
          const lines = readFileSync(join(hub.stateDir, 'audit.jsonl'), 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as JsonObject);
          const [first] = lines.filter(({ tool }) => tool === 'execute_code');
          const nested = lines.filter(({ parent }) => parent === first?.call_id);
          expect(nested.map(({ tool, outcome, approved_by }) => [tool, outcome, approved_by])).toEqual([
            ['read', 'ok', undefined],
            ['add', 'not_approved', undefined],
            ['add', 'ok', 'elicitation'],
          ]);
        } finally {
          await agent.close();
        }
      },
    );
});
