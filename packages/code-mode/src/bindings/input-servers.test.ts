// @module-tag deep

import { describe, expect, it } from 'vitest';
import { fixtureConfig, openUpstreams } from '../../../notebridge/test/support/upstreams.js';
import { gatherInput } from './input.js';

const options = { hubUrl: 'http://127.0.0.1:8765/api/v1/mcp/proxy', timeoutMs: 20_000 };

describe('gatherInput of running servers', () => {
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
