import { describe, expect, it } from 'vitest';
import { createContext } from '../../../notebridge/test/support/create-context.js';
import { Cancellation } from '../core/cancellation.js';
import { BridgeError } from '../core/errors.js';
import { everyAskable } from '../core/questions.js';
import type { JsonObject } from '../json.js';
import type { PeerRequestOptions } from '../rpc/peer.js';
import { AskedCalls, type SentCall } from './asked-calls.js';

const form = { method: 'elicitation/create', params: { message: 'Name?', _meta: { progressToken: 7, kept: 1 } } };

/** Calls to a server that answers with what it was answered; `asks`: once it was called. */
function openCalls(asks: { question?: JsonObject & { method: string }; timeoutMs?: number; isOwn?: boolean } = {}) {
  const { question = form, timeoutMs = 10_000, isOwn = false } = asks;
  const calls = new AskedCalls({ server: 'it', tie: 'stream', owner: isOwn ? { context: undefined } : undefined, timeoutMs });
  let lastId = 0;
  const cancelled: string[] = [];
  const send = ({ via, cancellation }: PeerRequestOptions): Promise<JsonObject> => {
    const id = ++lastId;
    via?.({ id });
    cancellation?.onCancel((reason) => cancelled.push(reason));
    return calls.take(question, new Cancellation(), id);
  };
  const modern = { sessionId: 's', door: 'http', era: 'modern', clientInfo: undefined } as const;
  const toCall = (message: JsonObject = {}, sessionId = 's'): SentCall => {
    const caller = { ...modern, sessionId };
    const context = createContext('tools/call', { name: 't', ...message }, { caller, asker: { clientCapabilities: everyAskable } });
    return { method: 'tools/call', params: context.message, context, send };
  };
  return { calls, cancelled, toCall, run: (sessionId?: string) => calls.run(toCall({}, sessionId)) };
}

describe('calls that wait for the answers of modern agents', () => {
  it('are 64 of an agent at most: one more is refused, and one of another agent is not', { tags: ['P-342'] }, async () => {
    const { calls, run, toCall } = openCalls();
    const parked = await Promise.all(Array.from({ length: 64 }, () => run()));
    expect(new Set(parked.map(({ requestState }) => requestState)).size).toBe(64);
    await expect(run()).rejects.toMatchObject({ code: 'limit_reached' });
    expect(await run('another')).toMatchObject({ resultType: 'input_required' });
    const inputResponses = { 'question-1': { action: 'accept' } };
    const answered = await calls.resume(toCall({ requestState: parked[7]?.requestState, inputResponses }));
    expect(answered).toEqual({ action: 'accept' });
    expect(await run()).toMatchObject({ resultType: 'input_required' });
  });

  it('are cancelled after a while, and are asked without what only their server knows', async () => {
    const { cancelled, run } = openCalls({ timeoutMs: 20 });
    expect(await run()).toMatchObject({ inputRequests: { 'question-1': { params: { message: '[it] Name?', _meta: { kept: 1 } } } } });
    await expect.poll(() => cancelled).toEqual(['nobody answered what the server asked']);
  });

  it('are cancelled when the right of their agent ends, which knows of no call that could be cancelled', { tags: ['P-644'] }, async () => {
    const { calls, cancelled, toCall } = openCalls();
    const call = toCall();
    const { requestState } = await calls.run(call);
    call.context.cancellation.withdraw(new BridgeError('bad_grant', 'It was revoked.'));
    expect(cancelled).toEqual(['It was revoked.']);
    // Nothing holds on to a call that has ended.
    const taken = await calls.resume(toCall({ requestState }));
    expect(taken).toEqual({ action: 'cancel' });
    let isFree = false;
    call.context.cancellation.whenNotOutlived(() => (isFree = true));
    expect(isFree).toBe(true);
  });

  it('end with what their server answered meanwhile', async () => {
    const { calls, toCall } = openCalls();
    const asking = new Cancellation();
    const call = toCall();
    let end = (_: JsonObject): void => {};
    const first = await calls.run({
      ...call,
      send: ({ via }) => {
        via?.({ id: 'a' });
        calls.take(form, asking, 'a').catch(() => {});
        return new Promise((resolve) => {
          end = resolve;
        });
      },
    });
    asking.cancel('the server does not want to know any more');
    end({ done: true });
    expect(await calls.resume(toCall({ requestState: first.requestState }))).toEqual({ done: true });
  });
});

describe('a question of no call', () => {
  it('is refused, or of the agent that has the server for itself', { tags: ['P-344'] }, async () => {
    const roots = { method: 'roots/list' };
    const ask = async (): Promise<JsonObject> => ({ roots: [] });
    for (const isOwn of [false, true]) {
      const { calls } = openCalls({ isOwn });
      const context = createContext('tools/call', {}, { asker: { clientCapabilities: everyAskable, ask }, requestId: 1 });
      await calls.run({ method: 'tools/call', params: {}, context, send: async () => ({}) });
      const taken = calls.take(roots, new Cancellation(), undefined);
      if (isOwn) expect(await taken).toEqual({ roots: [] });
      else await expect(taken).rejects.toMatchObject({ code: 'unanswered_question' });
      expect(await calls.take(form, new Cancellation(), 'unknown')).toEqual(isOwn ? { roots: [] } : { action: 'cancel' });
    }
  });

  it('is asked of none of the agents whose calls run', { tags: ['P-340'] }, async () => {
    const { calls } = openCalls();
    const asked: string[] = [];
    const ends: ((result: JsonObject) => void)[] = [];
    const running = ['ada', 'bob'].map((name, id) => {
      const ask = async (): Promise<JsonObject> => {
        asked.push(name);
        return { action: 'accept' };
      };
      const context = createContext('tools/call', {}, { asker: { clientCapabilities: everyAskable, ask }, requestId: id });
      const send = ({ via }: PeerRequestOptions): Promise<JsonObject> => {
        via?.({ id });
        return new Promise((resolve) => ends.push(resolve));
      };
      return calls.run({ method: 'tools/call', params: {}, context, send });
    });
    expect(await calls.take(form, new Cancellation(), undefined)).toEqual({ action: 'cancel' });
    expect(await calls.take(form, new Cancellation(), 'unknown')).toEqual({ action: 'cancel' });
    expect(asked).toEqual([]);
    expect(await calls.take(form, new Cancellation(), 0)).toEqual({ action: 'accept' });
    expect(asked).toEqual(['ada']);
    for (const end of ends) end({});
    await Promise.all(running);
  });
});
