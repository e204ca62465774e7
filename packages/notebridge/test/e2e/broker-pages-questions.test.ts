// @module-tag P-338

import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { Asker } from '@notebridge/protocol/core/questions';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import type { JoinedNotebook } from '../../src/broker/joined-notebook.js';
import { createContext } from '../support/create-context.js';
import { JoinedPage } from '../support/joined-page.js';
import type { RawPage, RawPageOptions } from '../support/raw-page.js';

const form = (message: string): JsonObject => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties: {} } },
});
const text = (value: unknown): JsonObject => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

/** A page that asks once in each call, what the call's arguments say, and answers with what it was answered. */
const asking: NonNullable<RawPageOptions['answer']> = async ({ method, params, id }, page) => {
  if (method !== 'tools/call') return undefined;
  const { asks } = (params as JsonObject).arguments as JsonObject;
  const asked = `q${id}`;
  page.send({ jsonrpc: '2.0', id: asked, ...(asks as JsonObject) });
  return { result: text(await answerTo(page, asked)) };
};

async function answerTo(page: RawPage, asked: unknown): Promise<unknown> {
  await page.until((messages) => messages.some((message) => message.id === asked && message.method === undefined));
  const { result, error } = page.messages.find((message) => message.id === asked && message.method === undefined) ?? {};
  return result ?? error;
}

const everything = { elicitation: { form: {} }, sampling: {}, roots: {} };
const toCall = (asks: JsonObject, more: JsonObject = {}): JsonObject => ({ name: 'get_cells', arguments: { asks }, ...more });

function callLegacy(
  joined: JoinedNotebook,
  asks: JsonObject,
  asker: Partial<Asker>,
  cancellation = new Cancellation(),
): Promise<JsonObject> {
  const caller = { sessionId: 'legacy', door: 'stdio', era: 'legacy', clientInfo: { name: 'old' } } as const;
  const params = toCall(asks);
  return joined.request(
    'tools/call',
    params,
    createContext('tools/call', params, { caller, cancellation, requestId: 1, asker: { clientCapabilities: everything, ...asker } }),
  );
}

function callModern(joined: JoinedNotebook, params: JsonObject, name = 'new'): Promise<JsonObject> {
  const caller = { sessionId: name, door: 'stdio', era: 'modern', clientInfo: { name } } as const;
  return joined.request('tools/call', params, createContext('tools/call', params, { caller, asker: { clientCapabilities: everything } }));
}

describe('a page that another process holds, and that asks in the middle of a call', () => {
  it('asks the legacy agent whose call runs, by a request, and gets its answer', async () => {
    await using held = await JoinedPage.open(asking);
    const asked: unknown[] = [];
    const ask: Asker['ask'] = async (during, question) => {
      asked.push([during, question]);
      return question.method === 'roots/list' ? { roots: [] } : { action: 'accept', content: { a: 1 } };
    };
    expect(await callLegacy(held.join(), form('Sure?'), { ask })).toEqual(text({ action: 'accept', content: { a: 1 } }));
    expect(await callLegacy(held.join(), { method: 'roots/list' }, { ask })).toEqual(text({ roots: [] }));
    // The page is named once, by the side that has it.
    expect(asked).toMatchObject([
      [1, { method: 'elicitation/create', params: { message: '[Google Colab] Sure?' } }],
      [1, { method: 'roots/list' }],
    ]);
  });

  it('asks an agent of 2026-07-28 by input_required, and goes on with its next request', async () => {
    await using held = await JoinedPage.open(asking);
    const joined = held.join();
    const params = toCall(form('Sure?'));
    const first = await callModern(joined, params);
    expect(first).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'question-1': { method: 'elicitation/create', params: { message: '[Google Colab] Sure?' } } },
    });
    const { requestState } = first;
    const again = { ...params, requestState, inputResponses: { 'question-1': { action: 'decline' } } };
    // What is another agent's is taken up by nobody else.
    await expect(callModern(joined, again, 'other')).rejects.toMatchObject({ code: 'bad_params' });
    expect(await callModern(joined, again)).toEqual(text({ action: 'decline' }));
    await expect(callModern(joined, again)).rejects.toMatchObject({ code: 'bad_params' });
  });

  it('is never crossed between two agents that call at once', async () => {
    await using held = await JoinedPage.open(asking);
    const names = ['ada', 'bob'];
    const agents = names.map((name) => ({ name, joined: held.join() }));
    const numbers = Array.from({ length: 50 }, (_, at) => at);
    const answers = numbers.flatMap((number) =>
      agents.map(({ name, joined }) =>
        callLegacy(joined, form(`${name} ${number}`), { ask: async (_, { params }) => ({ by: name, message: String(params?.message) }) }),
      ),
    );
    const expected = numbers.flatMap((number) => names.map((name) => text({ by: name, message: `[Google Colab] ${name} ${number}` })));
    expect(await Promise.all(answers)).toEqual(expected);
  });

  it('cancels what an agent cannot be asked, and what it is asked when its call ends', async () => {
    await using held = await JoinedPage.open(asking);
    const ask = (): never => expect.fail('It was asked.');
    const none = held.join();
    expect(await callLegacy(none, form('Sure?'), { clientCapabilities: {}, ask })).toEqual(text({ action: 'cancel' }));
    const sample = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } };
    expect(JSON.stringify(await callLegacy(none, sample, { clientCapabilities: {}, ask }))).toContain('did not declare');

    const cancellation = new Cancellation();
    let isTold = false;
    const waits: Asker['ask'] = (_, __, { cancellation: asking }) => {
      cancellation.cancel('enough');
      return new Promise((_, reject) =>
        asking.onCancel((reason) => {
          isTold = true;
          reject(new Error(reason));
        }),
      );
    };
    await expect(callLegacy(held.join(), form('Still?'), { ask: waits }, cancellation)).rejects.toMatchObject({ code: 'cancelled' });
    const asked = `q${(await held.page.message('tools/call', 2)).id}`;
    expect(await answerTo(held.page, asked)).toEqual({ action: 'cancel' });
    expect(isTold).toBe(true);
  });

  it('is not waited for longer than an agent may take', async () => {
    await using held = await JoinedPage.open(asking);
    const joined = held.join({ answerTimeoutMs: 200 });
    const first = await callModern(joined, toCall(form('Sure?')));
    expect(first).toMatchObject({ resultType: 'input_required' });
    // Nobody brings the answer: the page gets one nevertheless.
    const asked = `q${(await held.page.message('tools/call')).id}`;
    expect(await answerTo(held.page, asked)).toEqual({ action: 'cancel' });
  });
});
