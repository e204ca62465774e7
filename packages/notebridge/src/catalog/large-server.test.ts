import { toTextResult } from '@notebridge/protocol/core/mcp';
import { MemoryToolServer, MemoryToolServers } from '@notebridge/protocol/core/memory-tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { Catalog } from './catalog.js';
import { ServerTools } from './server-tools.js';

it('each of 10,000 tools of a server is listed once, and called by its name', { tags: ['P-144'] }, async () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `tool_${at}`);
  const tools = names.map((name) => ({ name, inputSchema: {}, run: async () => toTextResult(name) }));
  const servers = new MemoryToolServers([new MemoryToolServer({ name: 'large', tools })]);
  const catalog = new Catalog(silentLogger);
  catalog.add(new ServerTools({ servers, logger: silentLogger }));
  const request = (method: string, message: JsonObject) => catalog.request(createContext(method, message));
  const listed: unknown[] = [];
  for (let cursor: unknown = null; cursor !== undefined; ) {
    const page = await request('tools/list', cursor === null ? {} : { cursor });
    listed.push(...(page.tools as JsonObject[]).map(({ name }) => name));
    cursor = page.nextCursor;
  }
  expect(listed).toHaveLength(names.length);
  expect(new Set(listed)).toEqual(new Set(names.map((name) => `large__${name}`)));
  for (const at of [0, 5_000, 9_999])
    expect(await request('tools/call', { name: `large__tool_${at}`, arguments: {} })).toEqual(toTextResult(`tool_${at}`));
});
