import { codeOf, toRpcError } from '@notebridge/protocol/core/errors';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import { printJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { createContext } from '../support/create-context.js';
import { echoExtras, listedEcho } from './contract-source.js';

/** Makes a provider with `createContractSource()` at its far end, fresh for each test, and closes it with `onTestFinished`. */
export type CreateProvider = () => Provider | Promise<Provider>;

function call(provider: Provider, name: string, args: JsonObject = {}): Promise<JsonObject> {
  return request(provider, 'tools/call', { name, arguments: args });
}

function request(provider: Provider, method: string, params: JsonObject = {}): Promise<JsonObject> {
  return provider.request(method, params, createContext(method, params));
}

/** What a caller would see of the rejection. */
async function rejectionOf(promise: Promise<JsonObject>): Promise<JsonObject> {
  return promise.then(
    (result) => expect.fail(`resolved: ${printJson(result)}`),
    (error: unknown) => toRpcError(error),
  );
}

/** What hub, doors and middlewares rely on, whatever the provider is. */
export function describeProviderContract(name: string, createProvider: CreateProvider): void {
  describe(`${name} keeps the provider contract`, () => {
    describe('lists', () => {
      it('has a name', async () => {
        expect((await createProvider()).name).toMatch(/./);
      });

      it('lists its tools with every key that they came with', async () => {
        const { tools } = await request(await createProvider(), 'tools/list');
        expect(tools).toMatchObject([{ name: 'echo' }, { name: 'fail' }, { name: 'steps' }, { name: 'wait' }, {}, {}]);
        expect((tools as JsonObject[])[0]).toEqual(listedEcho);
      });

      it('lists resources, templates and prompts with every key', async () => {
        const provider = await createProvider();
        expect(withoutHints(await request(provider, 'resources/list'))).toEqual({
          resources: [{ uri: 'memory://a', name: 'a', 'x-resource': 1 }],
        });
        expect(withoutHints(await request(provider, 'resources/templates/list'))).toEqual({ resourceTemplates: [] });
        expect(withoutHints(await request(provider, 'prompts/list'))).toEqual({
          prompts: [{ name: 'greet', arguments: [{ name: 'who', required: true }], 'x-prompt': 1 }],
        });
      });

      it('reads a resource and fills in a prompt', async () => {
        const provider = await createProvider();
        expect(withoutHints(await request(provider, 'resources/read', { uri: 'memory://a' }))).toEqual({
          contents: [{ uri: 'memory://a', text: 'A', 'x-contents': [] }],
        });
        expect(await request(provider, 'prompts/get', { name: 'greet', arguments: { who: 'you' } })).toEqual({
          messages: [{ role: 'user', content: { type: 'text', text: 'Hello you' }, 'x-message': 1 }],
        });
      });
    });

    describe('calls', () => {
      it('passes arguments and results to the letter, unknown keys and content included', async () => {
        const args = { a: 1, '': null, deep: [{ 'b c': '🗝️' }], __proto: {} };
        const result = await call(await createProvider(), 'echo', args);
        expect(printJson(result)).toBe(printJson({ ...echoExtras, structuredContent: { arguments: args } }));
      });

      it('passes a failed tool as a result', async () => {
        expect(await call(await createProvider(), 'fail')).toEqual({
          content: [{ type: 'text', text: 'It failed.' }],
          isError: true,
          _meta: { why: 'told' },
        });
      });

      it('gives each of many calls at once its own answer', async () => {
        const provider = await createProvider();
        const results = await Promise.all(Array.from({ length: 50 }, (_, n) => call(provider, 'echo', { n })));
        expect(results.map(({ structuredContent }) => structuredContent)).toEqual(results.map((_, n) => ({ arguments: { n } })));
      });

      it('rejects an unknown tool with -32602', async () => {
        expect(await rejectionOf(call(await createProvider(), 'nobody'))).toMatchObject({ code: -32602, data: { code: 'unknown_tool' } });
      });

      it('rejects an unknown method with -32601', async () => {
        expect(await rejectionOf(request(await createProvider(), 'x/unknown'))).toMatchObject({ code: -32601 });
      });

      it('rejects a resource that there is not with -32602', async () => {
        expect(await rejectionOf(request(await createProvider(), 'resources/read', { uri: 'memory://b' }))).toMatchObject({ code: -32602 });
      });

      it('ignores a notification that means nothing to it', async () => {
        const provider = await createProvider();
        provider.notify('notifications/x-unknown', { a: 1 });
        provider.notify('notifications/x-unknown', undefined);
        expect(await call(provider, 'count_waiting')).toEqual({ structuredContent: { waiting: 0 } });
      });
    });

    describe('cancellation', () => {
      it('rejects at once with "cancelled", and ends the work at the far end', async () => {
        const provider = await createProvider();
        const context = createContext('tools/call', { name: 'wait' });
        const waiting = provider.request('tools/call', context.message, context);
        expect(await call(provider, 'count_waiting')).toEqual({ structuredContent: { waiting: 1 } });
        context.cancellation.cancel('the user pressed stop');
        const error = await waiting.catch((rejected: unknown) => rejected);
        expect(codeOf(error)).toBe('cancelled');
        expect(String(error)).toContain('the user pressed stop');
        expect(await call(provider, 'count_waiting')).toEqual({ structuredContent: { waiting: 0 } });
      });

      it('rejects a call that was cancelled before', async () => {
        const provider = await createProvider();
        const context = createContext('tools/call', { name: 'wait' });
        context.cancellation.cancel('too late');
        await expect(provider.request('tools/call', context.message, context)).rejects.toMatchObject({ code: 'cancelled' });
        expect(await call(provider, 'count_waiting')).toEqual({ structuredContent: { waiting: 0 } });
      });

      it('leaves other calls alone', async () => {
        const provider = await createProvider();
        const [first, second] = [1, 2].map(() => createContext('tools/call', { name: 'wait' }));
        const calls = [first, second].map(async (context) => context && provider.request('tools/call', context.message, context));
        const settled = Promise.allSettled(calls);
        first?.cancellation.cancel('one');
        await expect(calls[0]).rejects.toMatchObject({ code: 'cancelled' });
        expect(await call(provider, 'count_waiting')).toEqual({ structuredContent: { waiting: 1 } });
        second?.cancellation.cancel('two');
        await settled;
      });
    });

    describe('progress', () => {
      it('comes under the token of the caller, in order, whole, and before the answer', async () => {
        const provider = await createProvider();
        const context = createContext('tools/call', { name: 'steps', arguments: {}, _meta: { progressToken: 'of the caller' } });
        const atTheEnd = await provider.request('tools/call', context.message, context).then(() => [...context.notified]);
        expect(atTheEnd).toEqual(
          [1, 2, 3].map((progress) => ({
            method: 'notifications/progress',
            params: { progress, total: 3, message: `step ${progress}`, 'x-kept': progress, progressToken: 'of the caller' },
          })),
        );
      });

      it('does not come to a caller that asked for none', async () => {
        const provider = await createProvider();
        const context = createContext('tools/call', { name: 'steps', arguments: {} });
        await provider.request('tools/call', context.message, context);
        expect(context.notified).toEqual([]);
      });

      it('the progress of two calls under one token reaches both', async () => {
        const provider = await createProvider();
        const contexts = [1, 2].map(() => createContext('tools/call', { name: 'steps', arguments: {}, _meta: { progressToken: 0 } }));
        await Promise.all(contexts.map((context) => provider.request('tools/call', context.message, context)));
        expect(contexts.map(({ notified }) => notified.length)).toEqual([3, 3]);
      });
    });

    describe('events', () => {
      // A provider may tell of several changes at once, and a little later; so each is waited for.
      it('reach every listener once, until it stops', async () => {
        const provider = await createProvider();
        const heard: [string, ProviderEvent][] = [];
        let onHeard = (): void => {};
        const stopFirst = provider.subscribe((event) => heard.push(['first', event]));
        provider.subscribe((event) => {
          heard.push(['second', event]);
          onHeard();
        });
        const change = async (): Promise<void> => {
          const told = new Promise<void>((resolve) => {
            onHeard = resolve;
          });
          await call(provider, 'change_tools');
          await told;
        };
        const event = { method: 'notifications/tools/list_changed' };
        await change();
        stopFirst();
        stopFirst();
        await change();
        expect(heard).toEqual([
          ['first', event],
          ['second', event],
          ['second', event],
        ]);
      });

      it('come when the list is the new one already', async () => {
        const provider = await createProvider();
        const listed = new Promise<JsonObject>((resolve, reject) => {
          provider.subscribe(() => void request(provider, 'tools/list').then(resolve, reject));
        });
        await call(provider, 'change_tools');
        expect(((await listed).tools as JsonObject[]).map((tool) => tool.name)).not.toContain('fail');
      });
    });
  });
}

/** A provider of the modern era also says how long a result may be kept. */
function withoutHints({ ttlMs: _1, cacheScope: _2, ...result }: JsonObject): JsonObject {
  return result;
}
