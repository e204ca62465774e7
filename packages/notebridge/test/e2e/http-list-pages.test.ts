// @module-tag deep
// @module-tag P-370

import { MemoryProvider } from '@notebridge/protocol/core/memory-provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { openMcpHttp } from '../support/mcp-http.js';

const many = (name: string): MemoryProvider =>
  new MemoryProvider({
    name,
    tools: Array.from({ length: 1200 }, (_, at) => ({ name: `${name}-${at}`, inputSchema: {}, run: async () => ({ content: [] }) })),
  });

type List = (params?: JsonObject) => Promise<JsonObject>;

/** Ways of two agents to one list: a session each, and, without sessions, a principal each. */
const ways: Record<string, () => Promise<{ list: List; others: List }>> = {
  'the legacy era': async () => {
    const { open } = await openMcpHttp({ providers: [many('a'), many('b')] });
    const toList = async (): Promise<List> => {
      const session = await open();
      return async (params) => (await session.request('tools/list', params)).json() as Promise<JsonObject>;
    };
    return { list: await toList(), others: await toList() };
  },
  'the modern era': async () => {
    const { ask, open } = await openMcpHttp({ providers: [many('a'), many('b')] });
    const session = await open();
    return {
      list: async (params) => (await ask('tools/list', params)).json() as Promise<JsonObject>,
      others: async (params) => (await session.request('tools/list', params)).json() as Promise<JsonObject>,
    };
  },
};

describe.each(Object.keys(ways))('a long list of several providers, for an agent of %s', (era) => {
  it('comes in pages, each tool once, and no cursor that is not its own opens one', async () => {
    const { list, others } = (await ways[era]?.()) ?? expect.fail();
    const names: unknown[] = [];
    let cursor: unknown;
    do {
      const { result } = (await list(cursor === undefined ? {} : { cursor })) as { result: JsonObject };
      names.push(...(result.tools as JsonObject[]).map(({ name }) => name));
      const before = cursor;
      cursor = result.nextCursor;
      if (cursor === undefined) break;
      const refused = { error: { code: -32602, message: expect.stringContaining('cursor') } };
      expect(await others({ cursor })).toMatchObject(refused);
      expect(await list({ cursor: `${cursor}x` })).toMatchObject(refused);
      expect(cursor).not.toBe(before);
    } while (names.length < 10_000);
    expect(names.filter((name) => /^[ab]-/.test(String(name)))).toHaveLength(2400);
    expect(new Set(names).size).toBe(names.length);
  });
});
