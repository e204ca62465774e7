// @module-tag P-166

import { MemoryToolServer } from '@notebridge/protocol/core/memory-tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listProxyServers, type Middleware, proxyToolCall, setSkillsProxyCaller } from '../../src/index.js';
import { jsonHeaders, jsonOf, type OpenToolProxy, openToolProxy } from '../support/tool-proxy.js';

let open: OpenToolProxy;
beforeEach(async () => {
  open = await openToolProxy();
});
afterEach(async () => {
  setSkillsProxyCaller(null);
  await open.close();
});

/** What is the same for each call, with `expected` in its place. */
function answered(expected: JsonObject): JsonObject {
  const always = { error: null, is_error: false, meta: null, error_code: null };
  return { success: true, ...always, call_id: expect.any(String), duration_ms: expect.any(Number), ...expected };
}

async function post(path: string, args: JsonObject = {}): Promise<Response> {
  return fetch(`${open.url}/${path}`, { method: 'POST', headers: jsonHeaders, body: JSON.stringify({ arguments: args }) });
}

describe('the function that was set with setSkillsProxyCaller, behind createToolProxy', () => {
  it('answers every tool of "skills", also those that skills do not have, under the name that the reference gives it', async () => {
    const seen: unknown[] = [];
    setSkillsProxyCaller(async (toolName, args) => {
      seen.push([toolName, args]);
      return { of: toolName };
    });
    expect(await jsonOf(post('skills/tools/load_skill', { skill_name: 'pdf' }))).toEqual(
      answered({ result: { of: 'skills__load_skill' } }),
    );
    expect(await jsonOf(post('skills/list_skills'))).toEqual(answered({ result: { of: 'skills__list_skills' } }));
    expect(await jsonOf(post('skills/tools/my_own'))).toEqual(answered({ result: { of: 'skills__my_own' } }));
    expect(await proxyToolCall(open.proxy, { server: 'skills', tool: 'direct' }, { arguments: { a: 1 } })).toMatchObject({ success: true });
    expect(seen).toEqual([
      ['skills__load_skill', { skill_name: 'pdf' }],
      ['skills__list_skills', {}],
      ['skills__my_own', {}],
      ['skills__direct', { a: 1 }],
    ]);
  });

  it.each([['# Skills'], ['{"a": 1}'], [null], [true], [0], [[]], [['1']], [{ success: false, exit_code: 2 }]])(
    'gives %j as it is',
    async (value) => {
      setSkillsProxyCaller(() => value);
      expect((await jsonOf(post('skills/tools/list_skills'))).result).toEqual(value);
    },
  );

  it('answers as the reference does when it throws: no result, its words, and not as a tool that failed', async () => {
    setSkillsProxyCaller((toolName) => {
      throw new Error(`Unknown skill tool: ${toolName}`);
    });
    const response = await post('skills/tools/run_skill_script', { skill_name: 'x' });
    expect(response.status).toBe(200);
    const failed = { success: false, result: null, is_error: false, error: 'Unknown skill tool: skills__run_skill_script' };
    expect(await response.json()).toMatchObject({ ...failed, error_code: 'skills_failed' });
    setSkillsProxyCaller(async () => Promise.reject(new Error('later')));
    expect(await jsonOf(post('skills/tools/mine'))).toMatchObject({ success: false, result: null, is_error: false, error: 'later' });
  });

  it('comes before a server of that name, for as long as it is set', async () => {
    const run = async () => ({ content: [], structuredContent: { result: 'of the server' } });
    open.servers.add(new MemoryToolServer({ name: 'skills', tools: [{ name: 'list_skills', inputSchema: { type: 'object' }, run }] }));
    expect((await jsonOf(post('skills/tools/list_skills'))).result).toBe('of the server');
    setSkillsProxyCaller(() => 'of the function');
    expect((await jsonOf(post('skills/tools/list_skills'))).result).toBe('of the function');
    const { servers } = await listProxyServers(open.proxy);
    expect(servers.filter(({ name }) => name === 'skills').map(({ tools }) => tools.length)).toEqual([4]);
    setSkillsProxyCaller(null);
    expect((await jsonOf(post('skills/tools/list_skills'))).result).toBe('of the server');
  });

  it('is gone when it is taken back', async () => {
    setSkillsProxyCaller(() => 'x');
    expect((await post('skills/tools/list_skills')).status).toBe(200);
    setSkillsProxyCaller(null);
    expect((await post('skills/tools/list_skills')).status).toBe(404);
  });

  it('goes through the chain of the hub like every other call', async () => {
    setSkillsProxyCaller((_, args) => args);
    const seen: unknown[] = [];
    const middleware: Middleware = {
      onCallTool(context, callNext) {
        seen.push([context.message.name, context.target]);
        return callNext(context);
      },
    };
    await using other = await openToolProxy({ middleware: [middleware] });
    const response = await fetch(`${other.url}/skills/tools/list_skills`, {
      method: 'POST',
      headers: jsonHeaders,
      body: '{"arguments":{}}',
    });
    expect(await response.json()).toMatchObject({ success: true, result: {} });
    expect(seen).toEqual([['skills__list_skills', { server: 'skills', tool: 'list_skills' }]]);
  });
});
