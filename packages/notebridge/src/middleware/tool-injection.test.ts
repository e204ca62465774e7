import { type Tool, toTextResult } from '@notebridge/protocol/core/mcp';
import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import type { MiddlewareContext } from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { composeMiddleware } from './compose.js';
import { ToolInjectionMiddleware } from './tool-injection.js';

const schema = { type: 'object' };
const injected = (name: string, run: RunnableTool<MiddlewareContext>['run'] = async () => toTextResult(`${name} of the hub`)) => ({
  name,
  description: 'ours',
  inputSchema: schema,
  _meta: { kept: true },
  run,
});
const listed = (name: string): Tool => ({ name, inputSchema: schema });

function chainWith(...tools: RunnableTool<MiddlewareContext>[]) {
  const chain = composeMiddleware([new ToolInjectionMiddleware({ tools })]);
  return (method: string, message: JsonObject, result: JsonObject = {}, context = createContext(method, message)) =>
    chain(context, async () => result);
}

describe('ToolInjectionMiddleware: the list', () => {
  it('has the injected tools in front, without their functions', async () => {
    const send = chainWith(injected('open'), injected('close'));
    const result = await send('tools/list', {}, { tools: [listed('a')], _x: 'kept' });
    expect(result).toEqual({
      tools: [
        { name: 'open', description: 'ours', inputSchema: schema, _meta: { kept: true } },
        { name: 'close', description: 'ours', inputSchema: schema, _meta: { kept: true } },
        listed('a'),
      ],
      _x: 'kept',
    });
  });

  it('shows them on its first page only, and no tool of a provider under their name on any', async () => {
    const send = chainWith(injected('open'));
    const page = { tools: [listed('open'), listed('a')], nextCursor: 'c' };
    expect(await send('tools/list', { cursor: 'b' }, page)).toEqual({ tools: [listed('a')], nextCursor: 'c' });
    const first = await send('tools/list', {}, page);
    expect(first).toMatchObject({ tools: [{ name: 'open', description: 'ours' }, { name: 'a' }], nextCursor: 'c' });
  });
});

describe('ToolInjectionMiddleware: the call', () => {
  it('runs the injected tool in place of a provider, with its arguments and the context', async () => {
    const tool = injected('open', async (args, context) => {
      context.reportProgress(1);
      return { structuredContent: { args, state: context.getState('x') } };
    });
    const context = createContext('tools/call', { name: 'open', arguments: { a: 1 }, _meta: { progressToken: 5 } });
    context.setState('x', 'shared');
    expect(await chainWith(tool)('tools/call', context.message, {}, context)).toEqual({
      structuredContent: { args: { a: 1 }, state: 'shared' },
    });
    expect(context.notified).toHaveLength(1);
  });

  it.each(['a', 'constructor', undefined, { toString: 1 }])('a call of %j is the providers’ business', async (name) => {
    expect(await chainWith(injected('open'))('tools/call', { name }, { from: 'provider' })).toEqual({ from: 'provider' });
  });

  it('is over at once when it is cancelled', async () => {
    const context = createContext('tools/call', { name: 'open' });
    const asked = chainWith(injected('open', () => new Promise(() => {})))('tools/call', context.message, {}, context);
    context.cancellation.cancel('stop');
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('refuses arguments that are no object', async () => {
    const asked = chainWith(injected('open'))('tools/call', { name: 'open', arguments: 'text' });
    await expect(asked).rejects.toMatchObject({ code: 'bad_params' });
  });
});
