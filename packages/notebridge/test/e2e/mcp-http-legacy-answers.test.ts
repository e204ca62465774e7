import { toTextResult } from '@notebridge/protocol/core/mcp';
import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { createSignal, messagesOf, openMcpHttp } from '../support/mcp-http.js';

const resultOf = (message: JsonObject | undefined): JsonObject => (message?.result ?? {}) as JsonObject;

describe('the HTTP door, legacy: what a call brings its agent', () => {
  it('asks on the stream that the agent opens a moment later, where the call can carry no question', { tags: ['P-691'] }, async () => {
    const { tell, told } = createSignal<undefined>();
    const asking: RunnableTool = {
      name: 'asking',
      inputSchema: { type: 'object' },
      run: async (_, { ask, cancellation }) => {
        const answer = ask?.({ method: 'roots/list' }, { cancellation, timeoutMs: 10_000 });
        tell(undefined);
        return toTextResult(JSON.stringify(await answer));
      },
    };
    const { open } = await openMcpHttp({ tools: [asking] });
    const session = await open({}, { roots: {} });
    const params = { name: 'asking', arguments: {} };
    const answered = session.post({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }, { accept: 'application/json' });
    await told;
    const reader = await session.listen();
    const question = await reader.next();
    expect(question).toMatchObject({ method: 'roots/list' });
    await session.post({ jsonrpc: '2.0', id: question?.id, result: { roots: [] } });
    expect(await (await answered).json()).toMatchObject({ result: toTextResult('{"roots":[]}') });
  });

  it('gives structured content as an object, which it may be no other in this era', { tags: ['P-690'] }, async () => {
    const structured: RunnableTool = {
      name: 'structured',
      inputSchema: { type: 'object' },
      run: async ({ value, content }) => ({ content, structuredContent: value }) as never,
    };
    const { open, ask } = await openMcpHttp({ tools: [structured] });
    const session = await open();
    const text = [{ type: 'text', text: 'two' }];
    const call = async (value: unknown, content: unknown = []) =>
      resultOf((await messagesOf(await session.call('structured', { value, content })))[0]);
    expect(await call([1, 2], text)).toEqual({ content: text, structuredContent: { result: [1, 2] } });
    expect(await call([1, 2])).toEqual({ content: [{ type: 'text', text: '[1,2]' }], structuredContent: { result: [1, 2] } });
    expect(await call(null, text)).toEqual({ content: text });
    expect(await call({ a: 1 })).toEqual({ content: [], structuredContent: { a: 1 } });
    const modern = await messagesOf(await ask('tools/call', { name: 'structured', arguments: { value: [1, 2], content: [] } }));
    expect(resultOf(modern[0])).toMatchObject({ content: [], structuredContent: [1, 2] });
  });
});
