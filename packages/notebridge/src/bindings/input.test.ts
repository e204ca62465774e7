// @module-tag deep

import { describe, expect, it } from 'vitest';
import { fixtureConfig, openUpstreams } from '../../test/support/upstreams.js';
import type { RunnableTool } from '../core/memory-provider.js';
import { MemoryToolServer, MemoryToolServers } from '../core/memory-tool-server.js';
import { gatherInput } from './input.js';

const tool = (name: string): RunnableTool => ({ name, inputSchema: { type: 'object' }, run: () => ({}) }) as unknown as RunnableTool;
const options = { hubUrl: 'http://127.0.0.1:8765/api/v1/mcp/proxy', timeoutMs: 20_000 };

describe('gatherInput', () => {
  it('takes servers and tools in the order of their names, and the skills apart', async () => {
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

  it('starts servers to ask them, leaves out those that fail or are silent, and says why', async () => {
    const { upstreams, server } = openUpstreams([
      fixtureConfig('values.mjs', [], { name: 'good' }),
      fixtureConfig('exits.mjs', [], { name: 'ends' }),
      fixtureConfig('hangs.mjs', [], { name: 'silent' }),
      fixtureConfig('values.mjs', [], { name: 'off', disabled: true }),
    ]);
    const { input, warnings, failed } = await gatherInput(upstreams, { ...options, timeoutMs: 10_000 });
    expect(input.servers.map(({ name }) => name)).toEqual(['good']);
    // A name that is listed twice is bound as it was listed first.
    expect(input.servers[0]?.tools.filter(({ name }) => name === 'twin')).toMatchObject([{ description: 'first' }]);
    expect(failed).toBe(2);
    expect(warnings[0]).toMatch(/^The server "ends" is left out: /);
    expect(warnings[1]).toBe('The server "silent" is left out: it did not list its tools within 10 s.');
    expect(server('good').state.status).toBe('running');
  });

  it('keeps the last known tools of a server that is down just now', async () => {
    const { upstreams, server, until } = openUpstreams([fixtureConfig('values.mjs', [], { name: 'good' })]);
    await server().listTools();
    process.kill(server().state.pid ?? 0, 'SIGKILL');
    await until(() => server().state.status !== 'running');
    const { input, warnings } = await gatherInput(upstreams, options);
    expect(input.servers[0]?.tools.length).toBeGreaterThan(10);
    expect(warnings).toEqual([]);
  });

  it('waits no longer when it is aborted', async () => {
    const { upstreams, server, until } = openUpstreams([fixtureConfig('hangs.mjs', [], { name: 'silent' })]);
    const ending = new AbortController();
    const gathered = gatherInput(upstreams, { ...options, timeoutMs: 600_000, signal: ending.signal });
    await until(() => server().state.status === 'starting');
    ending.abort();
    expect((await gathered).failed).toBe(1);
  });
});
