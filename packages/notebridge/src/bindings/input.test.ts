import { describe, expect, it } from 'vitest';
import type { RunnableTool } from '../core/memory-provider.js';
import { MemoryToolServer, MemoryToolServers } from '../core/memory-tool-server.js';
import { gatherInput } from './input.js';

const tool = (name: string): RunnableTool => ({ name, inputSchema: { type: 'object' }, run: () => ({}) }) as unknown as RunnableTool;
const options = { hubUrl: 'http://127.0.0.1:8765/api/v1/mcp/proxy', timeoutMs: 20_000 };

describe('gatherInput', () => {
  it('takes servers and tools in the order of their names, and the skills apart', { tags: ['P-087'] }, async () => {
    const servers = new MemoryToolServers([
      new MemoryToolServer({ name: 'zoo', tools: [tool('b'), tool('B'), tool('a')] }),
      new MemoryToolServer({ name: 'skills', tools: [tool('list_skills')] }),
      new MemoryToolServer({ name: 'ape', description: 'Climbs.', tools: [], expose: 'code' }),
      new MemoryToolServer({ name: 'hidden', tools: [tool('x')], expose: 'none' }),
    ]);
    const { input, warnings } = await gatherInput(servers, options);
    expect(input.servers.map(({ name, tools }) => [name, ...tools.map((each) => each.name)])).toEqual([['ape'], ['zoo', 'B', 'a', 'b']]);
    expect(input.servers[0]?.description).toBe('Climbs.');
    expect([input.skills, input.hubUrl, warnings]).toEqual([true, options.hubUrl, []]);
  });

  it('leaves out what may not be shown, and a server of which nothing is left', async () => {
    const servers = new MemoryToolServers([
      new MemoryToolServer({ name: 'some', tools: [tool('yes'), tool('no')] }),
      new MemoryToolServer({ name: 'nothing', tools: [tool('no')] }),
      new MemoryToolServer({ name: 'skills', tools: [tool('no')] }),
    ]);
    const { input } = await gatherInput(servers, { ...options, mayShow: (_, each) => each?.name === 'yes' });
    expect(input.servers.map(({ name, tools }) => [name, tools.map((each) => each.name)])).toEqual([['some', ['yes']]]);
    expect(input.skills).toBe(false);
  });
});
