import { type Answered, answer, type Hook, type Middleware } from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';
import { parseFrame, printFrame, ResultAnswer } from '@notebridge/protocol/rpc/messages';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { composeMiddleware, type Terminal } from './compose.js';

const hookNames = [
  'onMessage',
  'onRequest',
  'onNotification',
  'onInitialize',
  'onListTools',
  'onCallTool',
  'onListResources',
  'onReadResource',
  'onListPrompts',
  'onGetPrompt',
] as const satisfies (keyof Middleware)[];

/** A middleware with every hook there is; each writes down when it is entered and left. */
function tracing(name: string, log: string[]): Middleware {
  const trace =
    (hook: string): Hook<JsonObject, JsonObject> =>
    async (context, callNext) => {
      log.push(`${name}.${hook}`);
      const result = await callNext(context);
      log.push(`/${name}.${hook}`);
      return result;
    };
  return Object.fromEntries(hookNames.map((hook) => [hook, trace(hook)])) as Middleware;
}

const terminal: Terminal = async ({ method, message }) => ({ method, message });

async function entered(method: string): Promise<string[]> {
  const log: string[] = [];
  await composeMiddleware([tracing('a', log)])(createContext(method), terminal);
  return log.filter((line) => !line.startsWith('/')).map((line) => line.slice('a.'.length));
}

describe('composeMiddleware: which hooks', () => {
  it.each([
    ['initialize', 'onInitialize'],
    ['server/discover', 'onInitialize'],
    ['tools/list', 'onListTools'],
    ['tools/call', 'onCallTool'],
    ['resources/list', 'onListResources'],
    ['resources/read', 'onReadResource'],
    ['prompts/list', 'onListPrompts'],
    ['prompts/get', 'onGetPrompt'],
  ])('"%s" calls onMessage, onRequest and %s', async (method, hook) => {
    expect(await entered(method)).toEqual(['onMessage', 'onRequest', hook]);
  });

  it.each(['ping', 'completion/complete', 'a/method/of/the/future', 'toString', '__proto__', ''])(
    '"%s" has none of its own',
    async (method) => {
      expect(await entered(method)).toEqual(['onMessage', 'onRequest']);
    },
  );

  it.each(['notifications/initialized', 'notifications/tools/call'])('"%s" calls onMessage and onNotification', async (method) => {
    expect(await entered(method)).toEqual(['onMessage', 'onNotification']);
  });

  it('a notification under the name of a request has no hook of that request', async () => {
    const log: string[] = [];
    await composeMiddleware([tracing('a', log)])(createContext('tools/call', {}, { type: 'notification' }), terminal);
    expect(log).not.toContain('a.onCallTool');
  });
});

describe('composeMiddleware: order', () => {
  it('the first is outermost with all its hooks', { tags: ['P-032'] }, async () => {
    const log: string[] = [];
    const chain = composeMiddleware([tracing('a', log), {}, tracing('b', log)]);
    await chain(createContext('tools/call'), async () => {
      log.push('terminal');
      return {};
    });
    const way = ['a.onMessage', 'a.onRequest', 'a.onCallTool', 'b.onMessage', 'b.onRequest', 'b.onCallTool'];
    expect(log).toEqual([...way, 'terminal', ...way.toReversed().map((line) => `/${line}`)]);
  });

  it('goes straight to the terminal where there is no hook', async () => {
    const context = createContext('tools/call', { name: 't' });
    expect(await composeMiddleware([{}, {}])(context, terminal)).toEqual({ method: 'tools/call', message: { name: 't' } });
  });
});

describe('composeMiddleware: what a hook can do', () => {
  it('use its own fields', async () => {
    class Counting implements Middleware {
      count = 0;
      async onMessage(...[context, callNext]: Parameters<Hook<JsonObject, JsonObject>>): Promise<Answered<JsonObject>> {
        this.count++;
        return callNext(context);
      }
    }
    const counting = new Counting();
    const chain = composeMiddleware([counting]);
    await chain(createContext('ping'), terminal);
    await chain(createContext('notifications/x'), terminal);
    expect(counting.count).toBe(2);
  });

  it('leave state for everyone further in, also behind a copy', async () => {
    const seen: unknown[] = [];
    const chain = composeMiddleware([
      {
        onMessage: async (context, callNext) => {
          context.setState('user', 'ada');
          const result = await callNext(context.copy({ message: { changed: true } }));
          seen.push(context.getState('from inside'));
          return result;
        },
      },
      {
        onMessage: (context, callNext) => {
          seen.push(context.getState('user'));
          return callNext(context);
        },
      },
    ]);
    const result = await chain(createContext('ping'), async (context) => {
      context.setState('from inside', 1);
      return { user: context.getState('user'), message: context.message };
    });
    expect(result).toEqual({ user: 'ada', message: { changed: true } });
    expect(seen).toEqual(['ada', 1]);
  });

  it('answer in place of everything further in', async () => {
    const log: string[] = [];
    const chain = composeMiddleware([{ onCallTool: async () => answer({ content: [] }) }, tracing('inner', log)]);
    expect(await chain(createContext('tools/call'), () => Promise.reject(new Error('never reached')))).toEqual({ content: [] });
    expect(log).toEqual([]);
  });

  it('change a result, keeping what it does not know', async () => {
    const chain = composeMiddleware([{ onListTools: async (context, callNext) => ({ ...(await callNext(context)), tools: [] }) }]);
    expect(await chain(createContext('tools/list'), async () => ({ tools: [1], nextCursor: 'c', _x: 1 }))).toEqual({
      tools: [],
      nextCursor: 'c',
      _x: 1,
    });
  });

  it('call the next again with a copy', async () => {
    let tries = 0;
    const again: Middleware = {
      onRequest: (context, callNext) => callNext(context).catch(() => callNext(context.copy({ message: context.message }))),
    };
    const result = await composeMiddleware([again])(createContext('ping'), async () => {
      if (++tries === 1) throw new Error('once');
      return { tries };
    });
    expect(result).toEqual({ tries: 2 });
  });

  it('not hand on one message twice: the error names whose slip it is', async () => {
    let calls = 0;
    const twice: Hook<JsonObject, JsonObject> = async (context, callNext) => {
      await callNext(context);
      return callNext(context);
    };
    class Stutter implements Middleware {
      onMessage = twice;
    }
    const send = (middleware: Middleware): Promise<JsonObject> =>
      composeMiddleware([{}, middleware, {}])(createContext('tools/call'), async () => ({ calls: ++calls }));
    const names: [Middleware, string][] = [
      [{ name: 'mine', onMessage: twice }, 'mine'],
      [new Stutter(), 'Stutter'],
      [{ onRequest: twice }, 'twice'],
    ];
    for (const [middleware, name] of names) {
      await expect(send(middleware)).rejects.toMatchObject({
        code: 'internal',
        message: expect.stringContaining(`"${name}" called callNext`),
      });
    }
    expect(calls).toBe(names.length);
  });

  it('notify the caller of progress and of changed tools', async () => {
    const context = createContext('tools/call', { _meta: { progressToken: 'p' } });
    const chain = composeMiddleware([
      {
        onCallTool: (inner, callNext) => {
          inner.reportProgress(1, 2, 'half');
          inner.sendToolListChanged();
          return callNext(inner);
        },
      },
    ]);
    await chain(context, terminal);
    expect(context.notified).toEqual([
      { method: 'notifications/progress', params: { progress: 1, total: 2, message: 'half', progressToken: 'p' } },
      { method: 'notifications/tools/list_changed' },
    ]);
  });
});

describe('composeMiddleware: errors', () => {
  const failure = new Error('boom');

  it('an error of the terminal passes every hook, which may catch it', async () => {
    const seen: unknown[] = [];
    const watching: Middleware = {
      onMessage: (context, callNext) =>
        callNext(context).catch((error: unknown) => {
          seen.push(error);
          throw error;
        }),
    };
    const chain = composeMiddleware([watching, watching]);
    await expect(chain(createContext('ping'), () => Promise.reject(failure))).rejects.toBe(failure);
    expect(seen).toEqual([failure, failure]);
  });

  it('thrown before there is a promise are rejections too', async () => {
    const throwing = (): never => {
      throw failure;
    };
    const outer: Middleware = { onMessage: (context, callNext) => callNext(context).catch(() => answer({ caught: true })) };
    expect(await composeMiddleware([outer, { onRequest: throwing }])(createContext('ping'), terminal)).toEqual({ caught: true });
    expect(await composeMiddleware([outer])(createContext('ping'), throwing)).toEqual({ caught: true });
    await expect(composeMiddleware([{ onMessage: throwing }])(createContext('ping'), terminal)).rejects.toBe(failure);
  });

  it('a hook of plain JavaScript may answer without a promise', async () => {
    const plain = { onMessage: () => ({ plain: true }) } as unknown as Middleware;
    expect(await composeMiddleware([plain])(createContext('ping'), terminal).then((result) => result)).toEqual({ plain: true });
  });
});

describe('composeMiddleware: the text of a result', () => {
  const long = `,"long":"${'x'.repeat(3000)}"`;
  const received = (): JsonObject => (parseFrame(`{"jsonrpc":"2.0","id":1,"result":{"a" : 1${long}}}`) as { result: JsonObject }).result;
  const changing: Hook<JsonObject, JsonObject> = async (context, callNext) => {
    const result = await callNext(context);
    (result as JsonObject).b = 2;
    return result;
  };
  const printed = async (middlewares: Middleware[]): Promise<string> =>
    printFrame(new ResultAnswer(1, await composeMiddleware(middlewares)(createContext('tools/call'), async () => received())));

  it('is kept where no layer changes it', async () => {
    expect(await printed([{ onCallTool: (context, callNext) => callNext(context) }])).toContain('"result":{"a" : 1,');
    expect(await printed([])).toContain('"result":{"a" : 1,');
  });

  it('is dropped where a layer might, so that what it changed is answered', { tags: ['P-031'] }, async () => {
    expect(await printed([{}, { onMessage: changing }])).toMatch(/"result":\{"a":1,.*"b":2\}\}$/);
    expect(await printed([{ onMessage: changing }, {}])).toMatch(/"result":\{"a":1,.*"b":2\}\}$/);
    expect(await printed([{ onMessage: changing }])).toMatch(/"result":\{"a":1,.*"b":2\}\}$/);
  });
});
