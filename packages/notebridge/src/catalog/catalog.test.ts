import { BridgeError, RemoteError } from '@notebridge/protocol/core/errors';
import { toTextResult } from '@notebridge/protocol/core/mcp';
import { MemoryProvider, type MemoryProviderOptions } from '@notebridge/protocol/core/memory-provider';
import type { Provider } from '@notebridge/protocol/core/provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { parseFrame } from '@notebridge/protocol/rpc/messages';
import { rawTextOf } from '@notebridge/protocol/rpc/unread-members';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { Catalog } from './catalog.js';

/** A provider with these tools; each returns the name of its provider. */
function providing(name: string, tools: string[], more: Omit<MemoryProviderOptions, 'name' | 'tools'> = {}): MemoryProvider {
  return new MemoryProvider({
    name,
    tools: tools.map((tool) => ({ name: tool, inputSchema: {}, run: async () => toTextResult(name) })),
    ...more,
  });
}

/** A provider that answers as the test says. */
function answering(name: string, request: Provider['request']): Provider {
  return { name, request, notify: () => {}, subscribe: () => () => {} };
}

function open(...providers: Provider[]) {
  const warnings: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => warnings.push(message) };
  const catalog = new Catalog(logger);
  for (const provider of providers) catalog.add(provider);
  const request = (method: string, message: JsonObject = {}) => catalog.request(createContext(method, message));
  const namesOf = async (method: string, key: string, name = 'name') =>
    ((await request(method))[key] as JsonObject[]).map((item) => item[name]);
  return { catalog, warnings, request, namesOf, tools: () => namesOf('tools/list', 'tools') };
}

describe('Catalog: without providers', () => {
  it('has empty lists, no tool and no method', async () => {
    const { request } = open();
    expect(await request('tools/list')).toEqual({ tools: [] });
    expect(await request('resources/templates/list')).toEqual({ resourceTemplates: [] });
    await expect(request('tools/call', { name: { toString: 1 } })).rejects.toMatchObject({ code: 'unknown_tool' });
    await expect(request('toString')).rejects.toMatchObject({ code: 'unknown_method' });
  });
});

describe('Catalog: a long list of several providers', () => {
  const many = (name: string, count: number) =>
    providing(
      name,
      Array.from({ length: count }, (_, at) => `${name}${at}`),
    );
  const namesIn = ({ tools }: JsonObject): unknown[] => (tools as JsonObject[]).map(({ name }) => name);

  it('comes in pages that lose and double nothing, though a provider comes between them', { tags: ['P-370'] }, async () => {
    const { catalog, request } = open(many('a', 900), many('b', 900));
    const first = await request('tools/list');
    catalog.add(many('c', 900));
    const second = await request('tools/list', { cursor: first.nextCursor });
    expect(second.nextCursor).toBeUndefined();
    expect(new Set([...namesIn(first), ...namesIn(second)]).size).toBe(1800);
    expect([...namesIn(first), ...namesIn(second)]).toHaveLength(1800);
    expect(await request('tools/call', { name: 'b899' })).toEqual(toTextResult('b'));
  });

  it.each(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])(
    'has no page of another cursor: %s',
    { tags: ['P-370'] },
    async (method) => {
      const { request } = open(many('a', 9), many('b', 9));
      await expect(request(method, { cursor: 'of nobody' })).rejects.toMatchObject({ code: 'bad_params' });
      expect(await request(method, { cursor: null })).toEqual(await request(method));
    },
  );

  it('follows the pages of each provider, which may repeat a cursor for ever', { tags: ['P-370'] }, async () => {
    const pages: unknown[] = [];
    const own = answering('own', async (_, { cursor = null }) => {
      pages.push(cursor);
      return { tools: [{ name: `t${pages.length}` }], nextCursor: cursor === null ? 'one' : 'two' };
    });
    const { tools } = open(own, providing('other', ['x']));
    expect(await tools()).toEqual(['t1', 't2', 't3', 'x']);
    expect(pages).toEqual([null, 'one', 'two']);
  });
});

describe('Catalog: a completion', () => {
  it('is that of the provider that lists the prompt or template, though others would answer', { tags: ['P-369'] }, async () => {
    const completing = (name: string) =>
      answering(name, async (method) => {
        if (method === 'prompts/list') return { prompts: [{ name: `ask ${name}` }] };
        if (method === 'resources/templates/list') return { resourceTemplates: [{ uriTemplate: `${name}:{x}` }] };
        return { completion: { values: [name] } };
      });
    const { request } = open(completing('one'), completing('two'));
    const complete = (ref: JsonObject) => request('completion/complete', { ref, argument: { name: 'x', value: '' } });
    for (const name of ['one', 'two']) {
      const answer = { completion: { values: [name] } };
      expect(await complete({ type: 'ref/prompt', name: `ask ${name}` })).toEqual(answer);
      expect(await complete({ type: 'ref/resource', uri: `${name}:{x}` })).toEqual(answer);
    }
  });
});

describe('Catalog: a provider that offers each agent its own', () => {
  it('is asked again for a name that another agent was not offered', async () => {
    const own = answering('own', async (method, params, { caller }) =>
      method === 'tools/list' ? { tools: [{ name: `of ${caller.sessionId}` }] } : toTextResult(String(params.name)),
    );
    const { catalog } = open(own, providing('other', ['x']));
    const request = (method: string, message: JsonObject, sessionId: string) => {
      const caller = { sessionId, door: 'library', era: 'legacy', clientInfo: undefined } as const;
      return catalog.request(createContext(method, message, { caller }));
    };
    await request('tools/list', {}, 'two');
    expect(await request('tools/call', { name: 'of one' }, 'one')).toEqual(toTextResult('of one'));
    await expect(request('tools/call', { name: 'of one' }, 'two')).resolves.toEqual(toTextResult('of one'));
    await expect(request('tools/call', { name: 'of three' }, 'one')).rejects.toMatchObject({ code: 'unknown_tool' });
  });
});

describe('Catalog: one provider', () => {
  it('gets everything as it is: cursors, unknown methods and keys, faulty items', async () => {
    const asked: unknown[] = [];
    const answer = { tools: [{ noName: 1 }], nextCursor: 'c', _meta: { x: 1 }, ttlMs: 5 };
    const { request } = open(
      answering('only', async (method, params, context) => {
        asked.push([method, params, context.callId]);
        return answer;
      }),
    );
    expect(await request('tools/list', { cursor: 'b', y: 1 })).toBe(answer);
    expect(await request('a/method/of/the/future', {})).toBe(answer);
    expect(asked).toEqual([
      ['tools/list', { cursor: 'b', y: 1 }, 'test-1'],
      ['a/method/of/the/future', {}, 'test-1'],
    ]);
  });

  it('is not asked for its list before a call', async () => {
    const { request } = open(answering('only', async (method) => ({ method })));
    expect(await request('tools/call', { name: 'never listed' })).toEqual({ method: 'tools/call' });
  });
});

describe('Catalog: several providers', () => {
  it('merges their lists in the order in which they were mounted, and calls who offers it', async () => {
    const { request, tools } = open(providing('a', ['x', 'y']), providing('b', ['z']));
    expect(await tools()).toEqual(['x', 'y', 'z']);
    expect(await request('tools/call', { name: 'y' })).toEqual(toTextResult('a'));
    expect(await request('tools/call', { name: 'z' })).toEqual(toTextResult('b'));
  });

  it('finds the owner of a tool that was not listed yet', async () => {
    const { request } = open(providing('a', ['x']), providing('b', ['z']));
    expect(await request('tools/call', { name: 'z' })).toEqual(toTextResult('b'));
  });

  it('the first mounted of two items with one name is kept, and that is said', { tags: ['P-061'] }, async () => {
    const { request, tools, warnings } = open(providing('a', ['x', 'x']), providing('b', ['y', 'x']));
    expect(await tools()).toEqual(['x', 'y']);
    expect(warnings).toEqual([
      '"x" of "a" is hidden: "a" has one of the same name.',
      '"x" of "b" is hidden: "a" has one of the same name.',
    ]);
    expect(await request('tools/call', { name: 'x' })).toEqual(toTextResult('a'));
  });

  it('keeps the items as they came, and leaves out what has no name', async () => {
    const odd = answering('odd', async () => ({ tools: [{ name: 'x', _x: 1 }, { name: { toString: 1 } }, 'text', null, {}] }));
    expect(await open(odd, providing('b', [])).request('tools/list')).toEqual({ tools: [{ name: 'x', _x: 1 }] });
  });

  it('follows the pages of each', async () => {
    const paged = answering('paged', async (_, { cursor }) => {
      const page = Number(cursor ?? 0);
      return { tools: [{ name: `t${page}` }], ...(page < 2 ? { nextCursor: String(page + 1) } : {}) };
    });
    expect(await open(providing('a', ['x']), paged).tools()).toEqual(['x', 't0', 't1', 't2']);
  });

  it.each(['x', '__proto__', { toString: 1 }, undefined])('rejects a call of %j, which no provider has', async (name) => {
    const { request } = open(providing('a', []), providing('b', []));
    await expect(request('tools/call', { name })).rejects.toMatchObject({ code: 'unknown_tool' });
  });

  it('finds the owner of a resource and of a prompt', async () => {
    const resource = (uri: string, text: string) => ({ uri, name: uri, read: async () => [{ uri, text }] });
    const prompt = (name: string, text: string) => ({ name, fill: async () => [{ role: 'user', content: { type: 'text', text } }] });
    const { request, namesOf } = open(
      providing('a', [], { resources: [resource('m://1', 'a')], prompts: [prompt('p', 'a')] }),
      providing('b', [], { resources: [resource('m://1', 'b'), resource('m://2', 'b')], prompts: [prompt('q', 'b')] }),
    );
    expect(await namesOf('resources/list', 'resources', 'uri')).toEqual(['m://1', 'm://2']);
    expect(await request('resources/read', { uri: 'm://1' })).toMatchObject({ contents: [{ text: 'a' }] });
    expect(await request('resources/read', { uri: 'm://2' })).toMatchObject({ contents: [{ text: 'b' }] });
    expect(await request('prompts/get', { name: 'q' })).toMatchObject({ messages: [{ content: { text: 'b' } }] });
  });
});

describe('Catalog: a provider that fails', () => {
  const failing = (error: unknown): Provider => answering('broken', () => Promise.reject(error));

  it('does not hide the others, and is reported', async () => {
    const { request, tools, warnings } = open(failing(new Error('down')), providing('b', ['x']));
    expect(await tools()).toEqual(['x']);
    expect(warnings).toEqual(['"broken" is left out: it did not answer "tools/list".']);
    expect(await request('tools/call', { name: 'x' })).toEqual(toTextResult('b'));
  });

  it('is asked again for the next call, since what it has is unknown', async () => {
    let isDown = true;
    const steady = providing('a', ['x']);
    const flaky = providing('b', ['z']);
    const { request, tools } = open(
      steady,
      answering('b', (...args) => (isDown ? Promise.reject(new Error('down')) : flaky.request(...args))),
    );
    expect(await tools()).toEqual(['x']);
    isDown = false;
    expect(await request('tools/call', { name: 'z' })).toEqual(toTextResult('b'));
  });

  it('is not said to lack a tool that it may have: an agent would give up the tool', { tags: ['P-619'] }, async () => {
    const { request } = open(failing(new BridgeError('not_connected', 'No page is there.')), providing('b', ['x']));
    await expect(request('tools/call', { name: 'z' })).rejects.toMatchObject({
      code: 'not_connected',
      message: expect.stringMatching(
        /^Whether there is a tool "z" is not known: those of "broken" could not be listed\. No page is there\./,
      ),
    });
  });

  it('a provider that fails at once, without a promise, is no worse', async () => {
    const throwing = answering('broken', () => {
      throw new Error('down');
    });
    expect(await open(throwing, providing('b', ['x'])).tools()).toEqual(['x']);
  });

  it('a list of which all providers fail rejects with the first error', async () => {
    const first = new BridgeError('not_connected', 'first');
    await expect(open(failing(first), failing(new Error('second'))).request('tools/list')).rejects.toBe(first);
  });

  it.each([new BridgeError('unknown_method', 'no'), new RemoteError({ code: -32601, message: 'no' })])(
    'because it does not know the method has none of these: %s',
    async (error) => {
      const { request, tools, warnings } = open(failing(error), failing(error));
      expect(await tools()).toEqual([]);
      expect(warnings).toEqual([]);
      await expect(request('tools/call', { name: 'x' })).rejects.toMatchObject({ code: 'unknown_tool' });
    },
  );
});

describe('Catalog: how long a list may be kept', () => {
  it('is the least time and the narrowest scope of all providers, and nothing if one of them says nothing', {
    tags: ['P-361'],
  }, async () => {
    const saying = (name: string, hints: JsonObject) => answering(name, async () => ({ tools: [{ name }], ...hints }));
    const hintsOf = async (...all: JsonObject[]) => {
      const { ttlMs, cacheScope } = await open(...all.map((hints, at) => saying(`p${at}`, hints))).request('tools/list');
      return [Math.ceil(Number(ttlMs) / 60_000), cacheScope];
    };
    const [long, short] = [
      { ttlMs: 5_400_000, cacheScope: 'public' },
      { ttlMs: 3_600_000, cacheScope: 'public' },
    ];
    expect(await hintsOf(long, short)).toEqual([60, 'public']);
    expect(await hintsOf(long, { ...short, cacheScope: 'private' })).toEqual([60, 'private']);
    expect(await hintsOf(long, {})).toEqual([Number.NaN, undefined]);
    expect(await hintsOf(long, { ttlMs: -1, cacheScope: 'public' })).toEqual([Number.NaN, undefined]);
  });
});

describe('Catalog: what it remembers', () => {
  it('is asked for once, until it is told to forget', async () => {
    let lists = 0;
    const b = providing('b', ['z']);
    const counted = answering('b', (method, ...rest) => {
      if (method === 'tools/list') lists++;
      return b.request(method, ...rest);
    });
    const { catalog, request } = open(providing('a', ['x']), counted);
    for (let call = 0; call < 3; call++) await request('tools/call', { name: 'z' });
    expect(lists).toBe(1);
    b.setTools([]);
    catalog.forget();
    await expect(request('tools/call', { name: 'z' })).rejects.toMatchObject({ code: 'unknown_tool' });
  });

  it('is not a list that was on its way when it was told to forget', async () => {
    const b = providing('b', ['old']);
    let hold: Promise<void> | undefined;
    let release = (): void => {};
    const slow = answering('b', async (...args) => {
      const answer = await b.request(...args);
      if (args[0] === 'tools/list') await hold;
      return answer;
    });
    const { catalog, request, tools } = open(providing('a', []), slow);
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const listing = tools();
    await Promise.resolve();
    b.setTools([{ name: 'new', inputSchema: {}, run: async () => toTextResult('new') }]);
    catalog.forget();
    release();
    await listing;
    expect(await request('tools/call', { name: 'new' })).toEqual(toTextResult('new'));
  });

  it('is gone when another provider is added', async () => {
    const { catalog, request, tools } = open(providing('a', ['x']), providing('b', ['y']));
    await tools();
    catalog.add(providing('c', ['z']));
    expect(await request('tools/call', { name: 'z' })).toEqual(toTextResult('c'));
  });
});

describe('Catalog: the text of a result', () => {
  it.each([true, false])('is kept unless the provider has changed the result in place (%s)', async (isChanged) => {
    const text = `{"long":"${'x'.repeat(3000)}"}`;
    const { result } = parseFrame(`{"jsonrpc":"2.0","id":1,"result":${text}}`) as { result: JsonObject };
    const { request } = open(answering('page', async () => (isChanged ? Object.assign(result, { more: 1 }) : result)));
    expect(rawTextOf(await request('tools/call', { name: 'x' }))).toBe(isChanged ? undefined : text);
  });
});
