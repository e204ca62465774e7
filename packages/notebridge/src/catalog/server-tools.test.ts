import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, RemoteError } from '@notebridge/protocol/core/errors';
import { toTextResult } from '@notebridge/protocol/core/mcp';
import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import { MemoryToolServer, type MemoryToolServerOptions, MemoryToolServers } from '@notebridge/protocol/core/memory-tool-server';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import type { Exposure, ServerState, ToolServer } from '@notebridge/protocol/core/tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { ServerTools } from './server-tools.js';

const inputSchema = { type: 'object' };
const tool = (name: string): RunnableTool => ({
  name,
  inputSchema,
  extra: 1,
  run: async (args) => toTextResult(`${name} ${JSON.stringify(args)}`),
});

function serving(name: string, tools: string[], more: Partial<MemoryToolServerOptions> = {}): MemoryToolServer {
  return new MemoryToolServer({ name, tools: tools.map(tool), ...more });
}

/** A server that behaves as the test says, else like one in memory. */
class OddServer extends MemoryToolServer {
  #status: ServerState['status'] = 'running';
  readonly asked: string[] = [];
  answers: Record<string, (params: JsonObject) => Promise<JsonObject>> = {};
  lists: (() => ReturnType<ToolServer['listTools']>) | undefined;

  override get status(): ServerState['status'] {
    return this.#status;
  }

  override set status(status: ServerState['status']) {
    this.#status = status;
  }

  override get state(): ServerState {
    return { ...super.state, status: this.#status };
  }

  // MemoryToolServer has it as a field, so that a test can change it only beside it.
  setExpose(expose: Exposure): void {
    Object.defineProperty(this, 'expose', { value: expose, configurable: true });
  }

  override listTools(): ReturnType<MemoryToolServer['listTools']> {
    return (this.lists?.() ?? super.listTools()) as ReturnType<MemoryToolServer['listTools']>;
  }

  override request(...args: Parameters<MemoryToolServer['request']>): Promise<JsonObject> {
    const [method, params] = args;
    this.asked.push(method);
    return this.answers[method]?.(params) ?? super.request(...args);
  }
}

function odd(name: string, tools: string[] = []): OddServer {
  return new OddServer({ name, tools: tools.map(tool) });
}

function open(list: ToolServer[], listWaitMs?: number) {
  const warnings: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => warnings.push(message) };
  const servers = new MemoryToolServers(list);
  const provider = new ServerTools({ servers, logger, listWaitMs });
  const events: ProviderEvent[] = [];
  provider.subscribe((event) => events.push(event));
  const request = (method: string, params: JsonObject = {}) => provider.request(method, params, createContext(method, params));
  return {
    servers,
    provider,
    warnings,
    events,
    request,
    call: (name: string, args: JsonObject = {}) => request('tools/call', { name, arguments: args, _meta: { x: 1 } }),
    namesOf: async (method: string, items: string, key = 'name') =>
      ((await request(method))[items] as JsonObject[]).map((item) => item[key]),
  };
}

const never = new Promise<never>(() => {});

describe('what a guard asks of names', () => {
  it('holds a name that was never listed to be of the server whose prefix it has, and finds out what it is', async () => {
    const server = new OddServer({ name: 'my git', tools: ['star.repo'].map(tool) });
    Object.defineProperty(server, 'knownTools', { value: undefined, writable: true });
    const provider = new ServerTools({ servers: new MemoryToolServers([server]), logger: silentLogger });
    expect(provider.addressOf('my_git__star_repo')).toEqual({ server: 'my git', tool: '' });
    expect(provider.addressOf('get_cells')).toBeUndefined();
    expect(provider.learn('get_cells', createContext('tools/call'))).toBeUndefined();
    const learning = provider.learn('my_git__star_repo', createContext('tools/call'));
    Object.defineProperty(server, 'knownTools', { value: await server.listTools() });
    await learning;
    expect(provider.addressOf('my_git__star_repo')).toEqual({ server: 'my git', tool: 'star.repo' });
    expect(provider.learn('my_git__star_repo', createContext('tools/call'))).toBeUndefined();
  });

  it('knows whose a resource or prompt is once it was listed', async () => {
    const server = new OddServer({ name: 'docs', tools: [] });
    server.answers = {
      'resources/list': async () => ({ resources: [{ uri: 'file:///a', name: 'a' }] }),
      'prompts/list': async () => ({ prompts: [{ name: 'ask' }] }),
    };
    const provider = new ServerTools({ servers: new MemoryToolServers([server]), logger: silentLogger });
    expect(provider.serverOf('resource', 'file:///a')).toBeUndefined();
    await provider.request('resources/list', {}, createContext('resources/list'));
    await provider.request('prompts/list', {}, createContext('prompts/list'));
    expect(provider.serverOf('resource', 'file:///a')).toBe('docs');
    expect(provider.serverOf('prompt', 'docs__ask')).toBe('docs');
    expect(provider.serverOf('prompt', 'ask')).toBeUndefined();
  });
});

describe('ServerTools: tools', () => {
  it('are listed as server__tool with everything else as it is, and called by that name', async () => {
    const { request, call } = open([serving('github', ['star']), serving('a b', ['x'])]);
    expect(await request('tools/list')).toEqual({
      tools: [
        { name: 'github__star', inputSchema, extra: 1 },
        { name: 'a_b__x', inputSchema, extra: 1 },
      ],
    });
    expect(await call('github__star', { id: 1 })).toEqual(toTextResult('star {"id":1}'));
    expect(await call('a_b__x')).toEqual(toTextResult('x {}'));
  });

  it('are called before any list was asked for', async () => {
    const late = odd('late', ['x']);
    Object.defineProperty(late, 'knownTools', { get: () => undefined, configurable: true });
    late.lists = () => {
      Object.defineProperty(late, 'knownTools', { value: [tool('x')] });
      return Promise.resolve([tool('x')]);
    };
    expect(await open([late]).call('late__x')).toEqual(toTextResult('x {}'));
  });

  it('reach their server with the params as they came, but for the name', async () => {
    const server = odd('s', ['x']);
    const seen: JsonObject[] = [];
    server.answers['tools/call'] = async (params) => {
      seen.push(params);
      return {};
    };
    await open([server]).call('s__x', { a: 1 });
    expect(seen).toEqual([{ name: 'x', arguments: { a: 1 }, _meta: { x: 1 } }]);
  });

  it('a tool of a server for code only, or for no one, is not there for agents', { tags: ['P-028'] }, async () => {
    const { namesOf, call } = open([serving('code', ['x'], { expose: 'code' }), serving('none', ['x'], { expose: 'none' })]);
    expect(await namesOf('tools/list', 'tools')).toEqual([]);
    await expect(call('code__x')).rejects.toMatchObject({ code: 'unknown_tool' });
    await expect(call('none__x')).rejects.toMatchObject({ code: 'unknown_tool' });
  });

  it('a tool of a server that is hidden or gone is not reached by a name that was listed before', { tags: ['P-028'] }, async () => {
    const server = odd('s', ['x']);
    const { namesOf, call, servers } = open([server]);
    expect(await namesOf('tools/list', 'tools')).toEqual(['s__x']);
    server.setExpose('none');
    await expect(call('s__x')).rejects.toMatchObject({ code: 'unknown_tool' });
    server.setExpose('direct');
    expect(await call('s__x')).toEqual(toTextResult('x {}'));
    servers.remove('s');
    await expect(call('s__x')).rejects.toMatchObject({ code: 'unknown_tool' });
  });

  it('a tool that is unknown is answered with the name that was meant', async () => {
    const { call, request } = open([serving('github', ['star_repo'])]);
    await expect(call('github__star_rep')).rejects.toThrow(/Did you mean "github__star_repo"/);
    await expect(request('tools/call', { name: 7 })).rejects.toMatchObject({ code: 'bad_params' });
  });

  it('are listed without those of a server that fails, or with what is known of them', async () => {
    const broken = odd('broken', ['known']);
    broken.lists = () => Promise.reject(new RemoteError({ code: 1, message: 'no' }));
    const { namesOf, warnings } = open([broken, serving('good', ['x'])]);
    expect(await namesOf('tools/list', 'tools')).toEqual(['broken__known', 'good__x']);
    expect(warnings).toEqual(['The tools of "broken" are not listed.']);
  });

  it('a tool of a server that could not be listed is not said not to exist', { tags: ['P-619'] }, async () => {
    const away = odd('away');
    Object.defineProperty(away, 'knownTools', { value: undefined, configurable: true });
    away.lists = () => Promise.reject(new BridgeError('cluster_unavailable', 'No hub has it just now.'));
    const { call, provider } = open([away, serving('good', ['x'])]);
    const said = {
      code: 'cluster_unavailable',
      message: expect.stringMatching(
        /"away__x" is not known: those of "away" could not be listed\. No hub has it just now\..*Nothing was called/,
      ),
    };
    await expect(call('away__x')).rejects.toMatchObject(said);
    expect(provider.whyUnknown('away__x')).toMatchObject(said);
    await expect(call('good__y')).rejects.toMatchObject({ code: 'unknown_tool' });
    away.lists = undefined;
    // It was listed, and another hub has taken it over since.
    await expect(call('away__x')).rejects.toMatchObject({
      code: 'upstream_unavailable',
      message: expect.stringMatching(/They have changed since/),
    });
    Object.defineProperty(away, 'knownTools', { value: [] });
    await expect(call('away__x')).rejects.toMatchObject({ code: 'unknown_tool' });
    expect(provider.whyUnknown('away__x')).toMatchObject({ code: 'unknown_tool' });
    // It is of a server whose tools are known, whatever else could not be listed.
    expect(provider.whyUnknown('good__y')).toMatchObject({ code: 'unknown_tool' });
  });

  it('are not waited for longer than the timeout of a list; one that nobody has answered is an error', { tags: ['P-678'] }, async () => {
    const slow = odd('slow', ['x']);
    slow.lists = () => never;
    slow.answers['prompts/list'] = () => never;
    const { namesOf, warnings } = open([slow, serving('good', ['x'])], 5);
    expect(await namesOf('tools/list', 'tools')).toEqual(['good__x', 'slow__x']);
    await expect(namesOf('prompts/list', 'prompts')).rejects.toMatchObject({ code: 'timeout' });
    expect(warnings).toHaveLength(2);
    const down = new OddServer({ name: 'down', tools: [] });
    down.lists = () => Promise.reject(new BridgeError('upstream_unavailable', 'gone'));
    await expect(open([down]).namesOf('tools/list', 'tools')).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  it('are not said to be broken by a list that was cancelled', async () => {
    const server = odd('s');
    server.lists = () => Promise.reject(new RemoteError({ code: 1, message: 'cancelled' }));
    const { provider, warnings } = open([server]);
    const cancellation = new Cancellation();
    cancellation.cancel('enough');
    await expect(provider.request('tools/list', {}, createContext('tools/list', {}, { cancellation }))).rejects.toThrow('cancelled');
    expect(warnings).toEqual([]);
  });
});

describe('ServerTools: what agents are notified of', () => {
  it('is each change of the tools, once', () => {
    const server = serving('s', ['x']);
    const { events } = open([server]);
    server.setTools([tool('y')]);
    expect(events).toEqual([{ method: 'notifications/tools/list_changed' }]);
  });

  it('is nothing of servers that they cannot see', () => {
    const server = serving('s', ['x'], { expose: 'code' });
    const { events, servers } = open([server]);
    server.setTools([tool('y')]);
    servers.add(serving('more', ['x'], { expose: 'none' }));
    expect(events).toEqual([]);
  });

  it('is that a server came, and that all it had is gone with it', async () => {
    const { events, servers, namesOf } = open([]);
    servers.add(serving('s', ['x']));
    expect(await namesOf('tools/list', 'tools')).toEqual(['s__x']);
    servers.remove('s');
    expect(events.map(({ method }) => method)).toEqual([
      'notifications/tools/list_changed',
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
    ]);
  });
});

describe('ServerTools: prompts and resources', () => {
  const fill = (text: string) => async () => [{ role: 'user', content: { type: 'text', text } }];
  const read = (text: string) => async () => [{ text }];
  const first = () =>
    new OddServer({
      name: 'first',
      prompts: [{ name: 'ask', title: 'T', fill: fill('first') }],
      resources: [{ uri: 'x://both', name: 'of first', read: read('first') }],
    });
  const second = () =>
    new OddServer({
      name: 'second',
      prompts: [{ name: 'ask', fill: fill('second') }],
      resources: [
        { uri: 'x://both', name: 'of second', read: read('second') },
        { uri: 'x://own', name: 'own', read: read('own') },
      ],
    });

  it('have the names of their servers where names could meet', async () => {
    const { request, namesOf } = open([first(), second()]);
    expect(await namesOf('prompts/list', 'prompts')).toEqual(['first__ask', 'second__ask']);
    expect(await request('prompts/get', { name: 'second__ask' })).toMatchObject({ messages: [{ content: { text: 'second' } }] });
    await expect(request('prompts/get', { name: 'ask' })).rejects.toMatchObject({ code: 'bad_params' });
  });

  it('belong to the server that stands first', async () => {
    const { request, namesOf } = open([first(), second()]);
    expect(await namesOf('resources/list', 'resources')).toEqual(['of first', 'own']);
    expect(await request('resources/read', { uri: 'x://both' })).toEqual({ contents: [{ text: 'first' }] });
    expect(await request('resources/read', { uri: 'x://own' })).toEqual({ contents: [{ text: 'own' }] });
  });

  it('are not listed anew for each reading, but after a change', async () => {
    const [one, two] = [first(), second()];
    const { request, servers } = open([one, two]);
    for (let time = 0; time < 3; time++) await request('resources/read', { uri: 'x://own' });
    expect(one.asked).toEqual(['resources/list']);
    expect(two.asked).toEqual(['resources/list', 'resources/read', 'resources/read', 'resources/read']);
    servers.remove('first');
    expect(await request('resources/read', { uri: 'x://both' })).toEqual({ contents: [{ text: 'second' }] });
  });

  it('an item that no server lists is asked for in turn, and the failure that says most is reported', async () => {
    const [without, looking] = [odd('without'), first()];
    without.answers['resources/read'] = () => Promise.reject(new BridgeError('unknown_method', 'no resources'));
    looking.answers['resources/read'] = () => Promise.reject(new RemoteError({ code: -32002, message: 'not found' }));
    const { request, servers } = open([without, looking]);
    await expect(request('resources/read', { uri: 'x://unlisted' })).rejects.toThrow('not found');
    const template = second();
    template.answers['resources/read'] = async ({ uri }) => ({ contents: [{ uri }] });
    servers.add(template);
    expect(await request('resources/read', { uri: 'x://unlisted' })).toEqual({ contents: [{ uri: 'x://unlisted' }] });
  });

  it('start no server that is not running', async () => {
    const asleep = first();
    asleep.status = 'stopped';
    const { namesOf } = open([asleep]);
    expect(await namesOf('prompts/list', 'prompts')).toEqual([]);
    expect(await namesOf('resources/list', 'resources')).toEqual([]);
    expect(asleep.asked).toEqual([]);
  });

  it('complete at their server, under its own names', async () => {
    const two = second();
    const seen: JsonObject[] = [];
    two.answers['completion/complete'] = async (params) => {
      seen.push(params);
      return { completion: { values: [] } };
    };
    const { request } = open([first(), two]);
    await request('completion/complete', { ref: { type: 'ref/prompt', name: 'second__ask', y: 1 }, argument: {} });
    expect(seen).toEqual([{ ref: { type: 'ref/prompt', name: 'ask', y: 1 }, argument: {} }]);
  });

  it('are all there is besides tools', async () => {
    await expect(open([first()]).request('no/such')).rejects.toMatchObject({ code: 'unknown_method' });
  });
});
