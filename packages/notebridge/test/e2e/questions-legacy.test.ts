import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { codeOf } from '@notebridge/protocol/core/errors';
import type { Principal } from '@notebridge/protocol/core/principal';
import type { Asker, Question } from '@notebridge/protocol/core/questions';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createContext } from '../support/create-context.js';
import { createSignal } from '../support/mcp-http.js';
import { createCall, fixtureConfig, openUpstreams } from '../support/upstreams.js';

const form = { method: 'elicitation/create', params: { message: 'Name?', requestedSchema: { type: 'object', properties: {} } } };
const sample = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } };
const roots = { method: 'roots/list' };
const everything = { elicitation: {}, sampling: {}, roots: {} };

function openAsking(
  more: Parameters<typeof fixtureConfig>[2] = {},
  { args = [], answerTimeoutMs = 60_000 }: { args?: string[]; answerTimeoutMs?: number } = {},
) {
  return openUpstreams([fixtureConfig('asks-legacy.mjs', args, { questions: 'serial', ...more })], { limits: { answerTimeoutMs } });
}

/** A legacy caller, and what it is asked. */
function legacyCaller(answer: (question: Question) => Promise<JsonObject>, sessionId = 'legacy') {
  const asked: Question[] = [];
  const ask: Asker['ask'] = (_, question) => {
    asked.push(question);
    return answer(question);
  };
  const caller = { sessionId, door: 'http', era: 'legacy', clientInfo: undefined } as const;
  return { asked, asker: { clientCapabilities: everything, ask }, caller, requestId: 1 };
}

/** A call of a modern agent, with what it says beside the arguments. */
function modernCall(
  args: JsonObject,
  more: JsonObject = {},
  { sessionId = 'modern', principal, clientInfo }: { sessionId?: string; principal?: Principal; clientInfo?: JsonObject } = {},
) {
  const caller = { sessionId, door: 'http', era: 'modern', clientInfo, ...(principal && { principal }) } as const;
  const context = createCall('ask', args, { asker: { clientCapabilities: everything }, caller });
  return context.copy({ message: { ...context.message, ...more } }) as typeof context;
}

const refused = { code: 'bad_params', message: expect.stringContaining('"requestState"') };

describe('a call of a modern agent to a server of the legacy era', () => {
  it('is answered with what the server asks, and taken up by the next, once', { tags: ['P-342'] }, async () => {
    const { call } = openAsking();
    const args = { asks: [form, roots], last: sample };
    const first = (await call('ask', {}, modernCall(args))) as JsonObject & { inputRequests: JsonObject };
    expect(first).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
    const merged = new Map(Object.entries(first.inputRequests));
    // What came later than the first is asked in the next round.
    let result: JsonObject = first;
    const answers: JsonObject = {};
    for (let round = 0; result.resultType === 'input_required'; round++) {
      expect(round).toBeLessThan(4);
      const requests = result.inputRequests as Record<string, Question>;
      for (const [key, question] of Object.entries(requests)) {
        merged.set(key, question);
        answers[key] = { from: question.method };
      }
      const { requestState } = result;
      result = await call('ask', {}, modernCall(args, { inputResponses: answers, requestState }));
      await expect(call('ask', {}, modernCall(args, { inputResponses: answers, requestState }))).rejects.toMatchObject(refused);
    }
    expect([...merged.values()]).toEqual([{ ...form, params: { ...form.params, message: '[it] Name?' } }, roots, sample]);
    expect(result).toMatchObject({ structuredContent: { answers: [form, roots, sample].map(({ method }) => ({ from: method })) } });
  });

  it('is refused for a state that was changed, or is of another caller, session or call', { tags: ['P-342'] }, async () => {
    const { call } = openAsking();
    const args = { asks: [form] };
    const { requestState } = await call('ask', {}, modernCall(args));
    const state = String(requestState);
    const inputResponses = { 'question-1': { action: 'accept' } };
    const again = (changed: JsonObject, ...more: [JsonObject?, Parameters<typeof modernCall>[2]?]) =>
      call('ask', {}, modernCall(more[0] ?? args, { inputResponses, requestState: state, ...changed }, more[1]));
    const changes = [
      `x${state}`,
      state.slice(0, -4),
      `${state}A`,
      `${state}=`,
      `${state}.x`,
      `${state} `,
      `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`,
      '',
      7,
      state.split('.')[0],
    ];
    for (const requestState of changes) await expect(again({ requestState })).rejects.toMatchObject(refused);
    await expect(again({}, { asks: [form, form] })).rejects.toMatchObject(refused);
    await expect(again({}, args, { sessionId: 'another' })).rejects.toMatchObject(refused);
    await expect(again({}, args, { principal: { kind: 'anonymous' } })).rejects.toMatchObject(refused);
    // Over HTTP agents of one token share a session: what they call themselves tells them apart.
    await expect(again({}, args, { clientInfo: { name: 'other', version: '1' } })).rejects.toMatchObject(refused);
    expect(await again({})).toMatchObject({ structuredContent: { answers: [{ action: 'accept' }] } });
  });

  it('cancels what was not answered, and is given up when nobody answers', { tags: ['P-342'] }, async () => {
    const patient = openAsking();
    const { requestState } = await patient.call('ask', {}, modernCall({ asks: [form] }));
    expect(await patient.call('ask', {}, modernCall({ asks: [form] }, { requestState }))).toMatchObject({
      structuredContent: { answers: [{ action: 'cancel' }] },
    });
    const { call, log, until } = openAsking({}, { args: ['rude'], answerTimeoutMs: 300 });
    const parked = await call('ask', {}, modernCall({ asks: [sample] }));
    // The next call gets its turn when the server has answered the one that nobody takes up.
    await until(() => log.some((line) => line.includes('No call waits')));
    const look = createCall('look');
    expect(await call('look', {}, look)).toMatchObject({
      structuredContent: { heard: expect.arrayContaining([expect.stringMatching(/^cancelled/)]) },
    });
    await expect(call('ask', {}, modernCall({ asks: [sample] }, { requestState: parked.requestState }))).rejects.toMatchObject(refused);
  });

  it('is not asked what it cannot be', { tags: ['deep'] }, async () => {
    const { call } = openAsking();
    const context = createCall('ask', { asks: [form, roots] }, { caller: { ...modernCall({}).caller } });
    expect(await call('ask', {}, context)).toMatchObject({
      structuredContent: { answers: [{ action: 'cancel' }, { error: { code: -32017 } }] },
    });
  });
});

describe('a server of the legacy era', () => {
  it('a server that is shared asks the agent of the one call that runs, of two nobody, and then its calls take turns', {
    tags: ['P-675'],
  }, async () => {
    const { call } = openAsking({ questions: 'auto' });
    const { told, tell } = createSignal<JsonObject>();
    const isAsked = createSignal<undefined>();
    const first = legacyCaller(() => {
      isAsked.tell(undefined);
      return told;
    }, 'one');
    const others = ['two', 'three', 'four'].map((name) => legacyCaller(async () => ({ action: 'decline', content: { name } }), name));
    const ask = (who: (typeof others)[number]) => call('ask', {}, createCall('ask', { asks: [form] }, who));
    const one = ask(first);
    await isAsked.told;
    const [two, three, four] = others.map(ask);
    // The turns begin with it: the first call was made before.
    expect(await two).toMatchObject({
      structuredContent: { answers: [{ error: { message: expect.stringContaining('run on it one at a time') } }] },
    });
    tell({ action: 'accept' });
    expect(await one).toMatchObject({ structuredContent: { answers: [{ action: 'accept' }] } });
    const answers = (await Promise.all([three, four])).map((result) => (result as JsonObject).structuredContent);
    expect(answers.at(-1)).toMatchObject({ answers: [{ action: 'decline', content: { name: 'four' } }] });
    expect(await call('look', {}, createCall('look', {}))).toMatchObject({ structuredContent: { capabilities: everything } });
  });

  it('a server that is shared asks the caller of the one call that runs; others wait for their turn', { tags: ['P-343'] }, async () => {
    const { call } = openAsking();
    const { told, tell } = createSignal<JsonObject>();
    const isAsked = createSignal<undefined>();
    const first = legacyCaller(() => {
      isAsked.tell(undefined);
      return told;
    }, 'one');
    const second = legacyCaller(async () => ({ action: 'decline' }), 'two');
    const one = call('ask', {}, createCall('ask', { asks: [form] }, first));
    const two = call('ask', {}, createCall('ask', { asks: [form] }, second));
    await isAsked.told;
    expect(second.asked).toEqual([]);
    tell({ action: 'accept' });
    expect(await one).toMatchObject({ structuredContent: { answers: [{ action: 'accept' }] } });
    expect(await two).toMatchObject({ structuredContent: { answers: [{ action: 'decline' }] } });
    expect(first.asked).toEqual([{ ...form, params: { ...form.params, message: '[it] Name?' } }]);
  });

  it('waits for an answer longer than for a server that works: of that nothing counts for the time-out of the call', {
    tags: ['P-341'],
  }, async () => {
    const timeoutMs = 5000;
    const { call, upstreams } = openAsking({ timeoutMs });
    await upstreams.start();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const asked = legacyCaller(async () => {
      vi.advanceTimersByTime(1.5 * timeoutMs);
      return { action: 'accept' };
    });
    expect(await call('ask', {}, createCall('ask', { asks: [form], last: form }, asked))).toMatchObject({
      structuredContent: { answers: [{ action: 'accept' }, { action: 'accept' }] },
    });
    const message = { name: 'ask', arguments: { forever: true }, _meta: { progressToken: 1 } };
    const notify = (): void => void vi.advanceTimersByTime(timeoutMs);
    const forever = createContext('tools/call', message, { ...asked, notify });
    await expect(call('ask', {}, forever)).rejects.toMatchObject({ code: 'timeout' });
  });

  it('a server that asks on after its call was cancelled asks nobody', { tags: ['P-343'] }, async () => {
    const { call } = openAsking({}, { args: ['rude'] });
    const isAsked = createSignal<undefined>();
    const ended = createSignal<string>();
    const cancellation = new Cancellation();
    const first = legacyCaller(() => {
      isAsked.tell(undefined);
      return new Promise(() => {});
    });
    const asker: Asker = {
      ...first.asker,
      ask: (during, question, options) => {
        options.cancellation.onCancel(ended.tell);
        return Promise.race([
          first.asker.ask?.(during, question, options) ?? Promise.reject(new Error()),
          new Promise<never>((_, reject) => options.cancellation.onCancel((reason) => reject(new Error(reason)))),
        ]);
      },
    };
    const one = call('ask', {}, createCall('ask', { asks: [form] }, { ...first, asker, cancellation }));
    await isAsked.told;
    const second = legacyCaller(async () => ({ action: 'accept' }), 'two');
    const two = call('ask', {}, createCall('ask', { asks: [roots] }, second));
    cancellation.cancel('enough');
    await expect(one).rejects.toMatchObject({ code: 'cancelled' });
    expect(await ended.told).toBe('enough');
    expect(await two).toMatchObject({ structuredContent: { answers: [{ action: 'accept' }] } });
    expect(first.asked).toHaveLength(1);
    expect(second.asked).toEqual([roots]);
    const { structuredContent } = await call('look');
    // It did ask on, and was answered for nobody.
    expect(structuredContent).toMatchObject({ heard: expect.arrayContaining([JSON.stringify({ action: 'cancel' })]) });
  });

  it('a server that does not answer a cancelled call is started anew before the next', { tags: ['P-343'] }, async () => {
    const { call, log } = openAsking();
    const pid = async () => ((await call('look')).structuredContent as JsonObject).pid;
    const before = await pid();
    const cancellation = new Cancellation();
    const caller = legacyCaller(async () => {
      cancellation.cancel('enough');
      return { action: 'accept' };
    });
    await expect(call('ask', {}, createCall('ask', { asks: [form] }, { ...caller, cancellation }))).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(await pid()).not.toBe(before);
    expect(log.join('\n')).not.toContain('given up');
  });

  it('a server that one agent stalls by cancelling in a loop serves the others in turn, and refuses that one for a while', {
    timeout: 120_000,
    tags: ['deep', 'P-399'],
  }, async () => {
    // For twice as long it is refused, longer than the server takes to start anew on a busy machine.
    const cancelledCallMs = 3000;
    const { call, server, upstreams } = openUpstreams([fixtureConfig('asks-legacy.mjs', [], { questions: 'serial' })], {
      limits: { cancelledCallMs },
    });
    await upstreams.start();
    // Each stall is a start anew.
    const stalls = () => server().state.restarts;
    const callerOf = (sessionId: string) => ({ sessionId, door: 'http', era: 'legacy', clientInfo: undefined }) as const;
    const started = createSignal<undefined>();
    /** Cancels each of its calls as soon as it runs. */
    const attack = async (): Promise<string> => {
      const cancellation = new Cancellation();
      const message = { name: 'ask', arguments: { forever: true }, _meta: { progressToken: 1 } };
      const notify = (): void => {
        started.tell(undefined);
        cancellation.cancel('again');
      };
      const context = createContext('tools/call', message, { caller: callerOf('attacker'), cancellation, notify });
      const error: unknown = await call('ask', {}, context).catch((reason: unknown) => reason);
      return codeOf(error) ?? String(error);
    };
    const attacks = Promise.all(Array.from({ length: 20 }, attack));
    await started.told;
    const look = (sessionId: string) => call('look', {}, createCall('look', {}, { caller: callerOf(sessionId) }));
    // Twenty calls wait; of those no more than one comes before.
    await look('other');
    expect(stalls()).toBeLessThanOrEqual(2);
    await Promise.all([look('other'), look('third'), look('other')]);
    expect(await attacks).toEqual([...Array(2).fill('cancelled'), ...Array(18).fill('limit_reached')]);
    expect(stalls()).toBe(2);
    await expect(look('attacker')).rejects.toMatchObject({ code: 'limit_reached', data: { retry_after_s: expect.any(Number) } });
    await look('other');
    // It is served again when it has waited.
    await expect.poll(() => look('attacker').catch(codeOf), { timeout: 60_000 }).toMatchObject({ content: [{ text: 'look' }] });
  });

  it('a server that serves one agent alone is promised what that one can, and told of its roots', { tags: ['P-345'] }, async () => {
    const { call, server } = openAsking({ instances: 'per-agent' });
    const caller = legacyCaller(async () => ({ roots: [] }));
    const other = { ...legacyCaller(async () => ({ action: 'cancel' }), 'other'), asker: { clientCapabilities: { elicitation: {} } } };
    const look = (who: Parameters<typeof createCall>[2]) => call('look', {}, createCall('look', {}, who));
    expect(await look(caller)).toMatchObject({ structuredContent: { capabilities: everything } });
    expect(await look(other)).toMatchObject({ structuredContent: { capabilities: { elicitation: {} } } });
    const changed = 'notifications/roots/list_changed';
    server().notify(changed, undefined, createCall('look', {}, caller));
    expect(await look(caller)).toMatchObject({ structuredContent: { heard: ['notifications/initialized', changed] } });
    expect(await look(other)).toMatchObject({ structuredContent: { heard: ['notifications/initialized'] } });
  });

  it('a server that says that a person is done with a URL says it to the agent that was shown it, and nobody else', {
    tags: ['P-340'],
  }, async () => {
    const { call, events } = openAsking();
    const urlOf = (elicitationId: string) => ({ mode: 'url', message: 'Log in.', url: 'https://example.org/', elicitationId });
    const shown = (sessionId: string) => {
      const caller = legacyCaller(async () => ({ action: 'accept' }), sessionId);
      return { ...caller, asker: { ...caller.asker, clientCapabilities: { elicitation: { form: {}, url: {} } } } };
    };
    await call('ask', {}, createCall('ask', { asks: [{ method: 'elicitation/create', params: urlOf('first') }] }, shown('one')));
    await expect(call('ask', {}, createCall('ask', { urls: [urlOf('second')] }, shown('two')))).rejects.toMatchObject({
      raw: { code: -32042 },
    });
    for (const complete of ['unknown', 'second', 'first']) await call('ask', {}, createCall('ask', { complete }, shown('three')));
    const method = 'notifications/elicitation/complete';
    expect(events.filter((event) => JSON.stringify(event).includes(method))).toMatchObject([
      { notification: { method, params: { elicitationId: 'second' }, sessionId: 'two' } },
      { notification: { method, params: { elicitationId: 'first' }, sessionId: 'one' } },
    ]);
  });
});
