import { BridgeError } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { createCallingHubs } from '../../notebridge/test/support/calling-hubs.js';
import { createContext } from '../../notebridge/test/support/create-context.js';

describe('Calls of ExchangedCalls', () => {
  it('cancel at the owner what is cancelled at the caller, and say how', { tags: ['P-520'] }, async () => {
    const { time, serve, call, started } = createCallingHubs();
    serve(
      ({ context }) =>
        new Promise((resolve, reject) =>
          context.cancellation.onCancel((reason) => {
            if (context.message.goesOn === true) time.after(5_000, () => resolve({ done: true }));
            else reject(new BridgeError('cancelled', reason));
          }),
        ),
    );
    const cancelled = async (params: JsonObject, how: { callerIsGone?: boolean; callerWaits?: boolean }) => {
      const context = createContext('tools/call', params);
      const outcome = call(params, context).catch((error: unknown) => error);
      await time.pass(50);
      context.cancellation.cancel('stop it', how);
      return time.until(outcome);
    };
    expect(await cancelled({}, { callerIsGone: true })).toMatchObject({ code: 'cancelled' });
    expect(started[0]?.context.cancellation).toMatchObject({ reason: 'stop it', callerIsGone: true, callerWaits: false });
    const before = time.steady();
    expect(await cancelled({ goesOn: true }, {})).toMatchObject({ code: 'cancelled' });
    expect(time.steady() - before, 'most callers wait no longer').toBeLessThan(2_500);
    expect(await cancelled({ goesOn: true }, { callerWaits: true })).toEqual({ done: true });
    const context = createContext('tools/call');
    context.cancellation.cancel('at once');
    await expect(call({}, context)).rejects.toMatchObject({ code: 'cancelled' });
    expect(started).toHaveLength(3);
  });

  it('start nothing that is not served, owned in that epoch and held in that very turn, and say so', { tags: ['P-522'] }, async () => {
    const { time, serve, call, started, claim, target, b, a, known, bus } = createCallingHubs();
    const refused = async (to = target) => time.until(call({}, createContext('tools/call'), to).catch((error: unknown) => error));
    expect(await refused()).toMatchObject({ name: 'NotStarted', reason: 'not_served' });
    serve(() => ({}));
    expect(await refused({ ...target, epoch: 2 })).toMatchObject({ reason: 'not_owner' });
    expect(await refused({ ...target, resource: 'server.t' })).toMatchObject({ reason: 'not_owner' });
    expect(await refused({ ...target, hub: 'z' })).toMatchObject({ reason: 'unreachable' });
    claim.isOurs = false;
    expect(await refused()).toMatchObject({ reason: 'not_owner' });
    claim.isOurs = true;
    expect(await refused()).toEqual({});
    b.calls.serve('hub.', async ({ resource }) => ({ resource }));
    expect(await refused({ hub: 'b', resource: 'hub.x', epoch: 0 }), 'every hub has that for itself').toEqual({ resource: 'hub.x' });
    await time.until(b.calls.drain());
    expect(await refused()).toMatchObject({ reason: 'draining' });
    expect(started).toHaveLength(1);
    const { messages } = bus.traffic;
    a.connection.setConnected(false);
    expect(await refused()).toMatchObject({ reason: 'unreachable' });
    expect(bus.traffic.messages).toBe(messages);
    known.remove('b');
    a.connection.setConnected(true);
    expect(await refused()).toMatchObject({ reason: 'unreachable' });
  });

  it('drain when those that run have ended and their answers have arrived', { tags: ['P-524'] }, async () => {
    const { time, serve, call, b } = createCallingHubs();
    let finish: () => void = () => {};
    serve(() => new Promise((resolve) => (finish = () => resolve({ late: true }))));
    const running = call({});
    await time.pass(100);
    let isDrained = false;
    const drained = b.calls.drain().then(() => {
      isDrained = true;
    });
    await expect(time.until(call({}))).rejects.toMatchObject({ reason: 'draining' });
    await time.pass(30_000);
    expect({ isDrained, served: b.calls.servedCount }).toEqual({ isDrained: false, served: 1 });
    finish();
    expect(await time.until(running)).toEqual({ late: true });
    await time.until(drained);
    expect(b.calls.servedCount).toBe(0);
  });

  it('end as "outcome unknown" when the owner is killed in the middle, and as not started if it can have had nothing', {
    tags: ['P-522'],
  }, async () => {
    const { time, serve, call, b, known, bus, started } = createCallingHubs();
    serve(() => new Promise(() => {}));
    const begun = call({}).catch((error: unknown) => error);
    await time.pass(100);
    b.connection.setConnected(false);
    expect(await time.until(begun)).toMatchObject({ code: 'hub_gone', data: { hub: 'b' } });
    b.connection.setConnected(true);
    bus.faults = { loss: 1 };
    const unheard = call({}).catch((error: unknown) => error);
    const large = call({ text: 'x'.repeat(5_000_000) }).catch((error: unknown) => error);
    await time.pass(1_000);
    known.remove('b');
    expect(await time.until(unheard), 'nobody knows what was lost, the call or its answer').toMatchObject({ code: 'hub_gone' });
    expect(await time.until(large)).toMatchObject({ name: 'NotStarted', reason: 'unreachable' });
    expect(started).toHaveLength(1);
  });

  it('tell the owner that the caller is gone when its hub is', async () => {
    const { time, serve, call, started, known } = createCallingHubs();
    serve(() => new Promise(() => {}));
    call({}).catch(() => {});
    await time.pass(100);
    known.remove('a');
    expect(started[0]?.context.cancellation).toMatchObject({ callerIsGone: true });
  });

  it('end when either side closes', async () => {
    const { time, serve, call, a, b } = createCallingHubs();
    serve(() => new Promise(() => {}));
    const first = call({}).catch((error: unknown) => error);
    await time.pass(100);
    b.calls.close();
    expect(await time.until(first)).toMatchObject({ code: 'hub_gone' });
    a.calls.close();
    await expect(call({})).rejects.toMatchObject({ reason: 'unreachable' });
  });
});
