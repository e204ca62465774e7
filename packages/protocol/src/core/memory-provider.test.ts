import { describe, expect, it } from 'vitest';
import { createContext } from '../../../notebridge/test/support/create-context.js';
import { parseJson } from '../exact-json.js';
import type { JsonObject } from '../json.js';
import { toTextResult } from './mcp.js';
import { MemoryProvider, type RunnableTool } from './memory-provider.js';

// What every provider does is tested in test/contracts.
const request = (provider: MemoryProvider, method: string, params: JsonObject = {}, context = createContext(method, params)) =>
  provider.request(method, params, context);

function toolThat(run: RunnableTool['run']): MemoryProvider {
  return new MemoryProvider({ tools: [{ name: 't', inputSchema: { type: 'object' }, run }] });
}

describe('MemoryProvider: tools', () => {
  it('get the arguments as plain numbers, whatever way a peer prints them', async () => {
    const provider = toolThat(async ({ seconds }) => toTextResult(`${typeof seconds} ${seconds}`));
    expect(await request(provider, 'tools/call', parseJson('{"name":"t","arguments":{"seconds":30.0}}') as JsonObject)).toEqual(
      toTextResult('number 30'),
    );
  });

  it.each([undefined, null])('get no arguments where the caller gives %s', async (args) => {
    const provider = toolThat(async (given) => ({ structuredContent: given }));
    expect(await request(provider, 'tools/call', { name: 't', arguments: args })).toEqual({ structuredContent: {} });
  });

  it.each(['text', [1], 7])('refuse arguments that are no object: %j', async (args) => {
    const provider = toolThat(async () => ({}));
    await expect(request(provider, 'tools/call', { name: 't', arguments: args })).rejects.toMatchObject({ code: 'bad_params' });
  });

  it('refuse arguments that are nested too deeply to be looked through', async () => {
    const provider = toolThat(async () => ({}));
    const args = { deep: parseJson(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) };
    await expect(request(provider, 'tools/call', { name: 't', arguments: args })).rejects.toMatchObject({ code: 'message_too_deep' });
  });

  it('pass on what they throw, at once or later, and listen to the call no longer', async () => {
    const failure = new Error('boom');
    const throwing = toolThat(() => {
      throw failure;
    });
    await expect(request(throwing, 'tools/call', { name: 't' })).rejects.toBe(failure);
    const context = createContext('tools/call', { name: 't' });
    await expect(
      request(
        toolThat(() => Promise.reject(failure)),
        'tools/call',
        { name: 't' },
        context,
      ),
    ).rejects.toBe(failure);
    context.cancellation.cancel('later');
  });

  it('do not run for a call that is cancelled already', async () => {
    let ran = false;
    const provider = toolThat(async () => {
      ran = true;
      return {};
    });
    const context = createContext('tools/call', { name: 't' });
    context.cancellation.cancel('before');
    await expect(request(provider, 'tools/call', { name: 't' }, context)).rejects.toMatchObject({ code: 'cancelled' });
    expect(ran).toBe(false);
  });

  it.each(['nobody', { toString: 1 }, undefined])('a tool of the name %j is unknown', async (name) => {
    await expect(request(new MemoryProvider(), 'tools/call', { name })).rejects.toMatchObject({ code: 'unknown_tool' });
  });
});

describe('MemoryProvider: resources and prompts', () => {
  const provider = new MemoryProvider({
    resources: [{ uri: 'memory://a', name: 'a', mimeType: 'text/plain', read: async () => [{ uri: 'memory://a', text: 'A' }] }],
    prompts: [
      { name: 'p', title: 'P', fill: async ({ who }) => [{ role: 'user', content: { type: 'text', text: `Hello ${String(who)}` } }] },
    ],
  });

  it('are listed without their functions', async () => {
    expect(await request(provider, 'resources/list')).toEqual({ resources: [{ uri: 'memory://a', name: 'a', mimeType: 'text/plain' }] });
    expect(await request(provider, 'prompts/list')).toEqual({ prompts: [{ name: 'p', title: 'P' }] });
    expect(await request(provider, 'resources/templates/list')).toEqual({ resourceTemplates: [] });
  });

  it('are read and filled in', async () => {
    expect(await request(provider, 'resources/read', { uri: 'memory://a' })).toEqual({ contents: [{ uri: 'memory://a', text: 'A' }] });
    expect(await request(provider, 'prompts/get', { name: 'p', arguments: { who: 'you' } })).toMatchObject({
      messages: [{ content: { text: 'Hello you' } }],
    });
  });

  it('reject with bad_params for what they do not have', async () => {
    await expect(request(provider, 'resources/read', { uri: { toString: 1 } })).rejects.toMatchObject({ code: 'bad_params' });
    await expect(request(provider, 'prompts/get', { name: 'q' })).rejects.toMatchObject({ code: 'bad_params' });
  });
});
