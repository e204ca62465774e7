import { describe, expect, it } from 'vitest';
import { createContext } from '../../../notebridge/test/support/create-context.js';
import { type ToolResult, toTextResult } from './mcp.js';
import { MemoryToolServer, MemoryToolServers } from './memory-tool-server.js';
import type { ToolServerEvent } from './tool-server.js';

const tool = { name: 't', inputSchema: { type: 'object' }, run: async () => toTextResult('ran') };

describe('MemoryToolServer', () => {
  it('lists its tools without running anything, and counts the calls that run', async () => {
    let inFlight = 0;
    const look = (): void => {
      inFlight = server.state.inFlight;
    };
    const run = async (): Promise<ToolResult> => {
      look();
      return toTextResult('ran');
    };
    const server: MemoryToolServer = new MemoryToolServer({ name: 's', tools: [{ ...tool, run }] });
    expect(server.knownTools).toEqual([{ name: 't', inputSchema: { type: 'object' } }]);
    expect(await server.listTools()).toEqual(server.knownTools);
    await server.request('tools/call', { name: 't' }, createContext('tools/call'));
    expect([inFlight, server.state]).toMatchObject([1, { status: 'running', inFlight: 0, restarts: 0 }]);
  });
});

describe('MemoryToolServers', () => {
  it('reports servers that come, change and go', () => {
    const servers = new MemoryToolServers([new MemoryToolServer({ name: 'first' })]);
    const events: ToolServerEvent[] = [];
    const stop = servers.subscribe((event) => events.push(event));
    const server = new MemoryToolServer({ name: 's' });
    servers.add(server);
    server.setTools([tool]);
    expect(servers.remove('s')).toBe(true);
    expect(servers.remove('s')).toBe(false);
    server.setTools([]);
    expect(events.map(({ server: name, kind }) => `${name} ${kind}`)).toEqual(['s added', 's notification', 's tools', 's removed']);
    stop();
    servers.add(server);
    expect(events).toHaveLength(4);
    expect(servers.all().map(({ name }) => name)).toEqual(['first', 's']);
  });

  it('put a server in the place of one with its name', () => {
    const second = new MemoryToolServer({ name: 's' });
    const servers = new MemoryToolServers([new MemoryToolServer({ name: 's' }), second]);
    expect([servers.all(), servers.get('s'), servers.get('no')]).toEqual([[second], second, undefined]);
  });
});
