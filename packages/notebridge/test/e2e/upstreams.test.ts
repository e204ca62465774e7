import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { codeOf } from '@notebridge/protocol/core/errors';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { describe, expect, it } from 'vitest';
import { createContext } from '../support/create-context.js';
import { createCall, fixtureConfig, linesOf, openUpstreams, temporaryPath } from '../support/upstreams.js';

const { resolve } = createRequire(import.meta.url);
const thirdParty = (name: string, args: string[] = []) =>
  fixtureConfig('', [], { name, args: [resolve(`@modelcontextprotocol/server-${name}/dist/index.js`), ...args] });

/** What a call was rejected with. */
async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    (result) => expect.fail(`resolved: ${JSON.stringify(result)}`),
    (error: unknown) => error as Error,
  );
}

describe('upstreams', () => {
  it('serve the tools of programs that others wrote', { tags: ['deep'] }, async () => {
    const file = temporaryPath('memory.json');
    const folder = file.slice(0, -'/memory.json'.length);
    const everything = thirdParty('everything');
    const { upstreams, server } = openUpstreams([
      everything,
      thirdParty('filesystem', [folder]),
      { ...thirdParty('memory'), env: { MEMORY_FILE_PATH: file } },
    ]);
    await upstreams.start();
    expect(upstreams.all().map(({ name, state }) => [name, state.status])).toEqual([
      ['everything', 'running'],
      ['filesystem', 'running'],
      ['memory', 'running'],
    ]);
    const call = (name: string, tool: string, args = {}): Promise<ToolResult> => {
      const context = createCall(tool, args);
      return server(name).request('tools/call', context.message, context) as Promise<ToolResult>;
    };
    expect((await call('everything', 'get-sum', { a: 2, b: 3 })).content).toMatchObject([{ type: 'text' }]);
    const entities = [{ name: 'a', entityType: 't', observations: ['o'] }];
    expect((await call('memory', 'create_entities', { entities })).structuredContent).toEqual({ entities });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ name: 'a' });
    expect((await call('filesystem', 'list_directory', { path: folder })).content).toMatchObject([{ text: '[FILE] memory.json' }]);
    const context = createContext('prompts/get', { name: 'simple-prompt' });
    expect(await server('everything').request('prompts/get', context.message, context)).toMatchObject({ messages: [{}] });
    expect(server('everything').state).toMatchObject({ protocolVersion: '2025-11-25', restarts: 0, inFlight: 0, pid: expect.any(Number) });
  });

  it('have no resources or prompts where the server has none, and say so without asking it', { tags: ['deep'] }, async () => {
    const { server, upstreams } = openUpstreams([fixtureConfig('calls.mjs', [temporaryPath('calls')])]);
    await upstreams.start();
    const ask = (method: string) => server().request(method, {}, createContext(method));
    expect(await ask('resources/list')).toEqual({ resources: [] });
    expect(await ask('prompts/list')).toEqual({ prompts: [] });
    await expect(ask('prompts/get')).rejects.toMatchObject({ code: 'unknown_method' });
  });

  it('pass the progress of a call under the token of the caller', { tags: ['deep'] }, async () => {
    const { call } = openUpstreams([fixtureConfig('calls.mjs', [temporaryPath('calls')])]);
    const context = createContext('tools/call', { name: 'steps', _meta: { progressToken: 'mine' } });
    await call('steps', {}, context);
    expect(context.notified.map(({ params }) => params)).toEqual([1, 2, 3].map((progress) => ({ progressToken: 'mine', progress })));
  });

  it('tell the server which call was cancelled, and which took too long', { tags: ['P-065'] }, async () => {
    const file = temporaryPath('calls');
    const config = fixtureConfig('calls.mjs', [file]);
    const { upstreams, call } = openUpstreams([config]);
    await upstreams.start();
    const context = createCall('wait', { key: 'cancelled one' });
    const cancelled = rejectionOf(call('wait', {}, context));
    await call('echo');
    context.cancellation.cancel('enough');
    expect(codeOf(await cancelled)).toBe('cancelled');
    await call('echo');
    expect(linesOf(file).filter((line) => line.startsWith('cancelled'))).toEqual(['cancelled cancelled one']);
    // Only for this one: any other may take as long as the machine needs.
    await upstreams.reconcile([{ ...config, timeoutMs: 200 }]);
    expect(codeOf(await rejectionOf(call('wait', { key: 'slow one' })))).toBe('timeout');
    await upstreams.reconcile([config]);
    await call('echo');
    expect(linesOf(file).filter((line) => line.startsWith('cancelled'))).toEqual(['cancelled cancelled one', 'cancelled slow one']);
  });

  it('carry messages of 20 MB', { tags: ['P-140'] }, async () => {
    const { call } = openUpstreams([fixtureConfig('calls.mjs', [temporaryPath('calls')])]);
    const bytes = 20 * 1024 * 1024;
    const { content } = (await call('big', { bytes })) as ToolResult;
    expect(String(content?.[0]?.text).length).toBe(bytes);
    const { structuredContent } = (await call('echo', { text: 'y'.repeat(bytes) })) as ToolResult;
    expect(String(structuredContent?.text).length).toBe(bytes);
  });

  it('skip a message that is longer than the limit, and go on', { tags: ['P-139'] }, async () => {
    const config = fixtureConfig('calls.mjs', [temporaryPath('calls')], { timeoutMs: 200 });
    const { call, log, upstreams, until } = openUpstreams([config], { limits: { maxMessageBytes: 10_000 } });
    const tooLarge = (): string[] => log.filter((line) => line.includes('message_too_large'));
    expect(codeOf(await rejectionOf(call('big', { bytes: 20_000 })))).toBe('timeout');
    await until(() => tooLarge().length > 0);
    await upstreams.reconcile([{ ...config, timeoutMs: undefined }]);
    expect(await call('echo', { a: 1 })).toMatchObject({ structuredContent: { a: 1 } });
    expect(tooLarge()).toHaveLength(1);
  });

  it('skip noise and answers to nobody, answer what nobody can be asked with an error, and report it', { tags: ['P-062'] }, async () => {
    const { call, log } = openUpstreams([fixtureConfig('noisy.mjs')]);
    expect(await call('echo')).toEqual({ content: [{ type: 'text', text: 'echo' }] });
    const { structuredContent } = (await call('ask')) as ToolResult;
    expect(structuredContent?.answers).toMatchObject([
      { id: 'ask-1', result: {} },
      { id: 'ask-2', error: { code: -32017, message: expect.stringContaining('sampling/createMessage') } },
      { id: 'ask-3', error: { code: -32017, message: expect.stringContaining('roots/list') } },
    ]);
    expect(log.filter((line) => line.includes('bad_json'))).not.toEqual([]);
    expect(log.filter((line) => line.includes('unexpected_answer'))).not.toEqual([]);
  });

  it('list 10,000 tools of many pages, the first of two with one name, and hear that they changed', { tags: ['deep'] }, async () => {
    const { call, server, log, events, until } = openUpstreams([fixtureConfig('many-tools.mjs')]);
    const tools = await server().listTools();
    expect(tools).toHaveLength(10_000);
    expect(tools[7]).toEqual({ name: 'tool_7', inputSchema: { type: 'object' }, description: 'first', 'x-kept': 1 });
    expect(log.filter((line) => line.includes('tool "tool_7", since there is another one'))).toHaveLength(1);
    expect(log.filter((line) => line.includes('it has no "name"'))).toHaveLength(2);
    events.length = 0;
    await call('tool_9999');
    await until(() => events.some(({ kind }) => kind === 'tools'));
    expect(server().knownTools?.[0]?.name).toBe('tool_1');
    expect(server().knownTools).toHaveLength(10_000);
  });

  it('know no tool that is not listed, and say which one was meant', { tags: ['deep'] }, async () => {
    const { call, server } = openUpstreams([fixtureConfig('calls.mjs', [temporaryPath('calls')])]);
    await server().listTools();
    expect(await rejectionOf(call('ecko'))).toMatchObject({
      code: 'unknown_tool',
      message: '"it" has no tool "ecko". Did you mean "echo"?',
    });
  });

  it('hide tools that the config does not allow, also from calls', { tags: ['P-028'] }, async () => {
    const tools = { allow: ['e*', 'big'], deny: ['env'] };
    const { call, server } = openUpstreams([fixtureConfig('calls.mjs', [temporaryPath('calls')], { tools })]);
    for (const name of ['env', 'count']) expect(await rejectionOf(call(name))).toMatchObject({ code: 'unknown_tool' });
    expect((await server().listTools()).map(({ name }) => name)).toEqual(['echo', 'big']);
    for (const name of ['env', 'count']) expect(await rejectionOf(call(name))).toMatchObject({ code: 'unknown_tool' });
    expect(await call('echo', { a: 1 })).toMatchObject({ structuredContent: { a: 1 } });
  });

  it('let further calls wait in line, and refuse those that would make it too long', { tags: ['P-141'] }, async () => {
    const file = temporaryPath('calls');
    const { call, server, upstreams } = openUpstreams([fixtureConfig('calls.mjs', [file], { maxInFlight: 1 })]);
    await upstreams.start();
    const context = createCall('wait', { key: 'first' });
    const first = rejectionOf(call('wait', {}, context));
    const counts = [1, 2, 3, 4].map((n) => call('count', { n }));
    expect(codeOf(await rejectionOf(call('count', { n: 5 })))).toBe('limit_reached');
    expect(server().state.inFlight).toBe(1);
    context.cancellation.cancel('enough');
    await Promise.all([first, ...counts]);
    expect(linesOf(file)).toEqual(['wait first', 'cancelled first', 'count 1', 'count 2', 'count 3', 'count 4']);
    expect(server().state.inFlight).toBe(0);
  });

  it('let nobody wait in line for longer than a call may take', { tags: ['P-141'] }, async () => {
    const { call, upstreams } = openUpstreams([fixtureConfig('calls.mjs', [temporaryPath('calls')], { maxInFlight: 1, timeoutMs: 500 })]);
    await upstreams.start();
    const context = createContext('tools/call', { name: 'wait', arguments: { key: 'a' } });
    const [first, second] = [rejectionOf(call('wait', {}, context)), rejectionOf(call('wait', { key: 'b' }))];
    expect([codeOf(await first), codeOf(await second)]).toEqual(['timeout', 'timeout']);
  });

  it('speak with a server of the modern era, and hear its changes', { tags: ['deep'] }, async () => {
    const { call, server, events, until } = openUpstreams([fixtureConfig('modern.mjs')]);
    const listed = (await server().listTools()).map(({ name }) => name);
    expect(listed).toEqual(['meta', 'change', 'ask']);
    expect(server().state).toMatchObject({ protocolVersion: '2026-07-28', serverInfo: { name: 'modern', version: '2' } });
    const context = createContext('tools/call', { name: 'meta', _meta: { 'example.com/kept': 1 } });
    expect(await call('meta', {}, context)).toEqual({
      content: [{ type: 'text', text: 'meta' }],
      structuredContent: {
        _meta: {
          'example.com/kept': 1,
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
          'io.modelcontextprotocol/clientInfo': { name: 'notebridge', version: '0' },
        },
      },
    });
    events.length = 0;
    await call('change');
    await until(() => events.some(({ kind }) => kind === 'tools'));
    expect(await rejectionOf(call('ask'))).toMatchObject({ code: 'bad_message', message: expect.stringContaining('input_required') });
  });

  it('send updates of the resources that are watched, in the modern era too, and after the last watcher none', {
    tags: ['P-349'],
  }, async () => {
    const { server, call, upstreams, events } = openUpstreams([fixtureConfig('both-eras.mjs')]);
    await upstreams.start();
    await server().listTools();
    expect(server().state.protocolVersion).toBe('2026-07-28');
    const watch = (method: string, uri: string) => server().request(`resources/${method}`, { uri }, createContext(`resources/${method}`));
    const updatesOf = async (...uris: string[]) => {
      events.length = 0;
      for (const uri of uris) await call('update', { uri });
      return events.flatMap((event) => (event.kind === 'notification' ? [event.notification] : []));
    };
    await watch('subscribe', 'note:one');
    expect(await updatesOf('note:one', 'note:two')).toEqual([{ method: 'notifications/resources/updated', params: { uri: 'note:one' } }]);
    await watch('unsubscribe', 'note:one');
    expect(await updatesOf('note:one')).toEqual([]);
  });

  it('are asked once more, after a restart, for what does no harm twice, and for nothing else', { tags: ['P-064'] }, async () => {
    const file = temporaryPath('calls');
    const { call, server } = openUpstreams([fixtureConfig('calls.mjs', [file])]);
    await server().listTools();
    expect(await call('read_once')).toMatchObject({ content: [{ text: 'alive' }] });
    await expect(call('change_once')).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(linesOf(file)).toEqual(['read_once', 'read_once', 'change_once']);
  });

  it('keep secrets of the config out of the log', { tags: ['P-069'] }, async () => {
    const redactor = new Redactor();
    const secret = 'secret-0123456789';
    const { call, log, until } = openUpstreams(
      [fixtureConfig('calls.mjs', [temporaryPath('calls')], { env: { KEY: secret, OTHER: `Bearer ${secret}x` } })],
      {
        redactor,
      },
    );
    expect(await call('env')).toMatchObject({ structuredContent: { KEY: secret } });
    await call('say', { line: `my key is ${secret} or ${secret}x` });
    await until(() => log.some((line) => line.includes('my key is [redacted: KEY] or [redacted: OTHER] {"server":"it"')));
    expect(log.join('\n')).not.toContain(secret);
  });

  it('give up the own program that was idle longest when there are too many', { tags: ['deep'] }, async () => {
    const { call } = openUpstreams([fixtureConfig('calls.mjs', [temporaryPath('calls')], { instances: 'per-agent' })], {
      limits: { maxOwnInstances: 2 },
    });
    const treeOf = async (sessionId: string) => {
      const context = createCall('env', {}, { caller: { sessionId, door: 'library', era: 'legacy', clientInfo: undefined } });
      return ((await call('env', {}, context)).structuredContent as Record<string, string>).NOTEBRIDGE_TREE;
    };
    const [one, two] = [await treeOf('one'), await treeOf('two')];
    expect(await treeOf('one')).toBe(one);
    expect(await treeOf('three')).toEqual(expect.any(String));
    expect(await treeOf('one')).toBe(one);
    expect(await treeOf('two')).not.toBe(two);
  });

  it('give an agent a program of its own where the config says so, and end it with its session', { tags: ['P-030'] }, async () => {
    const { server, call, upstreams } = openUpstreams([fixtureConfig('calls.mjs', [temporaryPath('calls')], { instances: 'per-agent' })]);
    const callAs = (sessionId: string) =>
      call('env', {}, createCall('env', {}, { caller: { sessionId, door: 'library', era: 'legacy', clientInfo: undefined } }));
    const tree = async (sessionId: string) => ((await callAs(sessionId)).structuredContent as Record<string, string>).NOTEBRIDGE_TREE;
    const [one, other, again] = [await tree('one'), await tree('other'), await tree('one')];
    expect(one).not.toBe(other);
    expect(again).toBe(one);
    await upstreams.endSession('one');
    expect(await tree('other')).toBe(other);
    expect(await tree('one')).not.toBe(one);
    expect(server().state.status).toBe('stopped');
  });

  it('give agents of 2026-07-28 that share a token one for each name, up to a quarter of the places', { tags: ['P-372'] }, async () => {
    const config = fixtureConfig('calls.mjs', [temporaryPath('calls')], { instances: 'per-agent' });
    const { call } = openUpstreams([config], { limits: { maxOwnInstances: 4 } });
    const tree = async (sessionId: string, name: string): Promise<unknown> => {
      const caller = { sessionId, door: 'http', era: 'modern', clientInfo: { name, version: '1' } } as const;
      return ((await call('env', {}, createCall('env', {}, { caller }))).structuredContent as Record<string, string>).NOTEBRIDGE_TREE;
    };
    const [other, first] = [await tree('other', 'a'), await tree('token', 'a')];
    expect(other).not.toBe(first);
    expect(await tree('token', 'a')).toBe(first);
    // A new name takes the place of an idle one of the same token, and of no other.
    expect([other, first]).not.toContain(await tree('token', 'b'));
    expect(await tree('token', 'a')).not.toBe(first);
    expect(await tree('other', 'a')).toBe(other);
  });
});
