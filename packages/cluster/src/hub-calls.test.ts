import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, RemoteError } from '@notebridge/protocol/core/errors';
import type { Asker } from '@notebridge/protocol/core/questions';
import { parseMessage, printMessage } from '@notebridge/protocol/core/wire';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { createCallingHubs } from '../../notebridge/test/support/calling-hubs.js';
import { createContext } from '../../notebridge/test/support/create-context.js';
import { hubSubject } from './exchanges.js';

const terrible = { loss: 0.2, doubling: 0.2, delayMs: 60 };

describe('ExchangedCalls', () => {
  it('have a call answered at its owner as if it had come through a door there', { tags: ['P-520'] }, async () => {
    const { time, serve, call, started } = createCallingHubs();
    serve(({ context }) => ({ content: [context.message] }));
    const caller = {
      sessionId: 's1',
      door: 'http',
      era: 'modern',
      clientInfo: { name: 'agent' },
      principal: { kind: 'grant', grantId: 'g1' },
    } as const;
    const params = { name: 'tool', arguments: { text: 'ä€😀' } };
    const context = createContext('tools/call', params, {
      callId: 'call-7',
      caller,
      parent: { callId: 'outer', caller: { ...caller, sessionId: 's0' } },
      isTyped: true,
      target: { server: 's', tool: 'tool' },
      trace: { traceparent: '00-1-2-01', tracestate: undefined },
    });
    expect(await time.until(call(params, context))).toEqual({ content: [params] });
    expect(started).toHaveLength(1);
    const served = started[0]?.context;
    expect(served).toMatchObject({ callId: 'call-7', caller, isTyped: true, target: { server: 's', tool: 'tool' }, wantsProgress: false });
    expect(served?.parent).toMatchObject({ callId: 'outer', caller: { sessionId: 's0' } });
    expect(served?.trace?.traceparent).toBe('00-1-2-01');
    expect(served?.method).toBe('tools/call');
  });

  it('say that a caller is the owner, and take none that does not say who it is', async () => {
    const { time, serve, call, started } = createCallingHubs();
    serve(() => ({}));
    await time.until(call({}));
    expect(started[0]?.context.caller.principal).toEqual({ kind: 'owner' });
    const nobody = { sessionId: 's', door: 'http', era: 'legacy', clientInfo: undefined, principal: { kind: 'king' } };
    const context = createContext('tools/call', {}, { caller: nobody as never });
    await expect(time.until(call({}, context))).rejects.toMatchObject({ code: 'bad_message' });
    expect(started).toHaveLength(1);
  });

  it('keep every digit, both ways, and errors as they are', { tags: ['P-520'] }, async () => {
    const { time, serve, call, log } = createCallingHubs();
    const text = '{"a":12345678901234567890,"b":1.0,"c":1e400,"d":[0.10]}';
    const exact = parseMessage(text) as JsonObject;
    serve(({ context: { message } }) => {
      if (message.fail === 'remote') throw new RemoteError(parseMessage(`{"code":-5,"message":"no","data":${text},"odd":1}`) as JsonObject);
      if (message.fail === 'ours') throw new BridgeError('held', 'Another has it.', { data: { who: exact } });
      if (message.fail === 'bug') throw new TypeError('secret');
      if (message.fail === 'none') return undefined as never;
      return { echoed: message };
    });
    expect(printMessage(await time.until(call({ name: 'x', exact })))).toBe(`{"echoed":{"name":"x","exact":${text}}}`);
    const remote = (await time.until(call({ fail: 'remote' })).catch((error: unknown) => error)) as RemoteError;
    expect(remote).toBeInstanceOf(RemoteError);
    expect(printMessage(remote.raw)).toBe(`{"code":-5,"message":"no","data":${text},"odd":1}`);
    const ours = (await time.until(call({ fail: 'ours' })).catch((error: unknown) => error)) as BridgeError;
    expect(ours).toMatchObject({ code: 'held', message: 'Another has it.' });
    expect(printMessage(ours.data)).toBe(`{"who":${text}}`);
    await expect(time.until(call({ fail: 'bug' }))).rejects.toMatchObject({ code: 'internal', message: 'Internal error' });
    expect(log.join('\n')).toContain('secret');
    await expect(time.until(call({ fail: 'none' }))).rejects.toMatchObject({ code: 'internal' });
  });

  it('bring progress, log lines and the answers to questions in order, and 10 MB each way, over a bad bus', {
    tags: ['deep', 'P-520'],
  }, async () => {
    for (let seed = 1; seed <= 2; seed++) {
      const { time, bus, serve, call } = createCallingHubs({ seed });
      bus.faults = terrible;
      const text = 'ab"€'.repeat(2_000_000);
      const asked: string[] = [];
      const asker: Asker = {
        clientCapabilities: { elicitation: { form: {} } },
        ask: async (during, { params }) => {
          asked.push(`${during} ${params?.message}`);
          return { action: 'accept', content: { n: asked.length } };
        },
      };
      serve(async ({ context }) => {
        const numbers: unknown[] = [];
        for (let step = 0; step < 30; step++) {
          context.reportProgress(step, 30, `step ${step}`);
          context.log('info', { step }, 'server');
          if (step % 10 !== 0) continue;
          const question = { method: 'elicitation/create', params: { message: `about ${step}` } };
          const answer = await context.ask?.(question, { cancellation: new Cancellation(), timeoutMs: 1000 });
          numbers.push(isJsonObject(answer?.content) ? answer.content.n : answer);
        }
        return { numbers, text: context.message.text, can: context.clientCapabilities };
      });
      const params = { text, _meta: { progressToken: 'own' } };
      const context = createContext('tools/call', params, { asker, requestId: 7 });
      const result = await time.until(call(params, context));
      expect(result.text === text).toBe(true);
      expect(result).toMatchObject({ numbers: [1, 2, 3], can: { elicitation: { form: {} } } });
      expect(asked).toEqual(['7 about 0', '7 about 10', '7 about 20']);
      const told = Array.from({ length: 30 }, (_, step) => [
        { method: 'notifications/progress', params: { progress: step, total: 30, message: `step ${step}`, progressToken: 'own' } },
        { method: 'notifications/message', params: { level: 'info', data: { step }, logger: 'server' } },
      ]).flat();
      expect(context.notified).toEqual(told);
    }
  });

  it('ask the agent in whose call code runs that made this one', async () => {
    const { time, serve, call } = createCallingHubs();
    serve(async ({ context }) => {
      const answer = await context.ask?.({ method: 'roots/list' }, { cancellation: new Cancellation(), timeoutMs: 1000 });
      return { answer };
    });
    const asker: Asker = { clientCapabilities: { roots: {} }, ask: async (during) => ({ during }) };
    const parent = { callId: 'outer', asker };
    expect(await time.until(call({}, createContext('tools/call', {}, { parent })))).toEqual({ answer: { during: 'outer' } });
  });

  it('take a question back, and bring back why it was not answered', async () => {
    const { time, serve, call } = createCallingHubs();
    const taken: (string | undefined)[] = [];
    const asker: Asker = {
      clientCapabilities: { elicitation: {} },
      ask: (_during, { params }, { cancellation }) =>
        params?.message === 'wait'
          ? new Promise((_, reject) =>
              cancellation.onCancel((reason) => {
                taken.push(reason);
                reject(new BridgeError('cancelled', reason));
              }),
            )
          : Promise.reject(new RemoteError({ code: -1, message: 'no form' })),
    };
    serve(async ({ context }) => {
      const cancellation = new Cancellation();
      const ask = (message: string) =>
        context
          .ask?.({ method: 'elicitation/create', params: { message } }, { cancellation, timeoutMs: 1000 })
          .catch((error: Error) => error);
      const refused = await ask('refuse');
      const waiting = ask('wait');
      await new Promise<void>((resolve) => time.after(100, resolve));
      cancellation.cancel('no longer');
      const back = await waiting;
      return { refused: refused instanceof RemoteError ? refused.raw : {}, back: back instanceof BridgeError ? back.code : '' };
    });
    const context = createContext('tools/call', {}, { asker, requestId: 1 });
    expect(await time.until(call({}, context))).toEqual({ refused: { code: -1, message: 'no form' }, back: 'cancelled' });
    await time.pass(100);
    expect(taken).toEqual(['no longer']);
  });

  it('execute nothing of a conversation that is sent again, and each of 1,000 at once just once', { tags: ['P-519'] }, async () => {
    const { time, bus, serve, call, started, b } = createCallingHubs({ seed: 3 });
    bus.faults = { loss: 0.05, doubling: 0.1, delayMs: 30 };
    bus.isRecording = true;
    serve(({ context }) => ({ n: context.message.n }));
    const results = await time.until(Promise.all(Array.from({ length: 1_000 }, (_, n) => call({ n }))));
    expect(results).toEqual(results.map((_, n) => ({ n })));
    expect(started).toHaveLength(1_000);
    for (const { subject, payload } of [...bus.recorded]) bus.inject(subject, payload);
    for (const { payload } of [...bus.recorded]) bus.inject(hubSubject('b'), payload);
    await time.pass(30_000);
    expect({ started: started.length, served: b.calls.servedCount }).toEqual({ started: 1_000, served: 0 });
  });

  it('keep no more of progress than a bound while the caller can take none, and all of the result', async () => {
    const { time, bus, serve, call } = createCallingHubs();
    const text = 'x'.repeat(100_000);
    serve(async ({ context }) => {
      for (let step = 0; step < 1_000; step++) {
        context.reportProgress(step, undefined, text);
        if (step % 50 === 0) await new Promise<void>((resolve) => time.after(1, resolve));
      }
      // Whoever misses this believes in the old tools for good.
      context.sendToolListChanged();
      return { text: 'y'.repeat(3_000_000) };
    });
    bus.faults = { delayMs: 500 };
    const params = { _meta: { progressToken: 1 } };
    const context = createContext('tools/call', params);
    const result = await time.until(call(params, context));
    expect(result.text).toHaveLength(3_000_000);
    expect(context.notified.length).toBeGreaterThan(10);
    expect(context.notified.length).toBeLessThan(60);
    expect(context.notified.at(-1)?.method).toBe('notifications/tools/list_changed');
    expect(bus.traffic.mostOnTheWay).toBeLessThan(3_000_000);
  });

  it('refuse what is larger than a message may be, on either way, and go on', async () => {
    const { time, serve, call, started } = createCallingHubs({ limits: { maxMessageBytes: 1_000_000 } });
    serve(({ context }) => ({ text: 'y'.repeat(Number(context.message.n)) }));
    await expect(time.until(call({ text: 'x'.repeat(1_000_000) }))).rejects.toMatchObject({ code: 'message_too_large' });
    expect(started).toHaveLength(0);
    await expect(time.until(call({ n: 2_000_000 }))).rejects.toMatchObject({ code: 'message_too_large' });
    expect(await time.until(call({ n: 1 }))).toEqual({ text: 'y' });
  });
});
