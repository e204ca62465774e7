// @module-tag deep

import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { jsonHeaders, jsonOf, type OpenToolProxy, openToolProxy } from '../support/tool-proxy.js';
import { fixtureConfig, openUpstreams, type UpstreamsForTest } from '../support/upstreams.js';

const program = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

describe('a server that others wrote, through the tool proxy', () => {
  let upstreams: UpstreamsForTest;
  let open: OpenToolProxy;
  beforeEach(async () => {
    upstreams = openUpstreams([fixtureConfig('', [], { name: 'everything', args: [program] })]);
    await upstreams.upstreams.start();
    open = await openToolProxy({ more: [upstreams.server('everything')] });
  });
  afterEach(() => open.close());

  const call = (tool: string, args: object = {}, init: RequestInit = {}): Promise<Response> =>
    fetch(`${open.url}/everything/tools/${tool}`, {
      method: 'POST',
      body: JSON.stringify({ arguments: args }),
      ...init,
      headers: { ...jsonHeaders, ...(init.headers as Record<string, string> | undefined) },
    });

  it('gives texts as texts, structured content as values, and images whole', async () => {
    expect(await jsonOf(call('echo', { message: 'true' }))).toMatchObject({ success: true, result: 'Echo: true' });
    expect(await jsonOf(call('get-structured-content', { location: 'Chicago' }))).toMatchObject({
      success: true,
      result: { temperature: expect.anything(), conditions: expect.any(String), humidity: expect.anything() },
    });
    const { result } = await jsonOf(call('get-tiny-image'));
    expect(result).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: 'image', mimeType: 'image/png', data: expect.any(String) })]),
    );
  });

  it('does not have a tool that nobody listed, and says so of wrong arguments', async () => {
    expect(await jsonOf(call('no-such-tool'))).toMatchObject({ success: false, is_error: false, error_code: 'tool_not_found' });
    expect(await jsonOf(call('get-sum', { a: 'x' }))).toMatchObject({ success: false, error: expect.any(String) });
  });

  it('reports its progress on a stream', async () => {
    const response = await call(
      'trigger-long-running-operation',
      { duration: 0.4, steps: 2 },
      { headers: { accept: 'application/x-ndjson' } },
    );
    const events = (await response.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.filter(({ event }) => event === 'progress').at(0)).toMatchObject({ progress: 1, total: 2 });
    expect(events.at(-1)).toMatchObject({ event: 'result', success: true });
  });

  it('ends with its own program: a call that does no harm twice is made once more, then fails, and the hub goes on', async () => {
    // With its tools it is known that this one may be repeated.
    await jsonOf(open.get('/api/v1/mcp/proxy/servers'));
    const killed = new Set<number>();
    const args = { duration: 30, steps: 300 };
    const response = await call('trigger-long-running-operation', args, { headers: { accept: 'application/x-ndjson' } });
    let text = '';
    for await (const chunk of response.body ?? []) {
      // Progress has come, so the tool runs.
      const { pid } = upstreams.server('everything').state;
      if (pid !== undefined && !killed.has(pid)) process.kill(pid, 'SIGKILL');
      if (pid !== undefined) killed.add(pid);
      text += Buffer.from(chunk).toString();
    }
    const last = text.trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({ event: 'result', success: false, is_error: false, error_code: 'upstream_unavailable' });
    expect(killed.size).toBe(2);
    expect(await jsonOf(open.call('hello'))).toMatchObject({ success: true });
  });

  it('is listed with its tools', async () => {
    const { servers } = (await jsonOf(open.get('/api/v1/mcp/proxy/servers'))) as { servers: { name: string; tools: { name: string }[] }[] };
    const everything = servers.find(({ name }) => name === 'everything');
    expect(everything).toMatchObject({ is_config: true, is_running: true });
    expect(everything?.tools.map(({ name }) => name)).toContain('echo');
  });
});
