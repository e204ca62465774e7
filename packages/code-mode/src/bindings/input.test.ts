import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import { MemoryToolServer, MemoryToolServers } from '@notebridge/protocol/core/memory-tool-server';
import type { ToolServer } from '@notebridge/protocol/core/tool-server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
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

  it('waits for a server that hangs once, from its start, and then for nobody', { tags: ['P-730'] }, async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const hanging = (name: string, startedMsAgo: number): ToolServer => {
      const state = { status: 'starting', since: Date.now() - startedMsAgo, restarts: 0, inFlight: 0 };
      return Object.defineProperties(new MemoryToolServer({ name, tools: [] }), {
        ...{ knownTools: { value: undefined }, listTools: { value: () => new Promise(() => {}) } },
        ...{ state: { value: state }, status: { value: state.status } },
      });
    };
    const quick = new MemoryToolServer({ name: 'quick', tools: [tool('a')] });
    const gather = (...slow: ToolServer[]) => gatherInput(new MemoryToolServers([quick, ...slow]), options);
    const names = ({ input, failed }: Awaited<ReturnType<typeof gather>>) => [...input.servers.map(({ name }) => name), failed];
    const slow = hanging('slow', 5000);
    const first = gather(slow);
    await vi.advanceTimersByTimeAsync(14_999);
    expect(await Promise.race([first.then(names), 'waits'])).toBe('waits');
    await vi.advanceTimersByTimeAsync(1);
    expect(names(await first)).toEqual(['quick', 1]);
    // No timer runs on: neither of them is waited for.
    expect(names(await gather(slow, hanging('slower', 60_000)))).toEqual(['quick', 2]);
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
