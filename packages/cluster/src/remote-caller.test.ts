import { describe, expect, it } from 'vitest';
import { createCallingHubs } from '../../notebridge/test/support/calling-hubs.js';
import { createContext } from '../../notebridge/test/support/create-context.js';
import { NotStarted } from './cluster-parts.js';
import { RemoteCaller } from './remote-caller.js';

/** Hub a calls what hub b has, until it is at hub a itself. */
function createCaller() {
  const hubs = createCallingHubs();
  let isHere = false;
  const caller = new RemoteCaller({
    calls: hubs.a.calls,
    runtime: hubs.time,
    find: () => (isHere ? undefined : hubs.target),
    callHere: async () => ({ answeredBy: 'a' }),
    what: 'The server "s"',
  });
  const call = () => caller.call('tools/call', {}, createContext('tools/call', {}));
  const handOver = (): void => {
    isHere = true;
  };
  return { ...hubs, call, handOver };
}

describe('RemoteCaller', () => {
  it('waits for what a hub has that drains, for as long as its calls may take to end', { tags: ['P-610'] }, async () => {
    const { time, b, serve, call, handOver } = createCaller();
    serve(() => new Promise(() => {}));
    void call().catch(() => {});
    await time.pass(10);
    void b.calls.drain();
    const waiting = call();
    time.after(20_000, handOver);
    expect(await time.until(waiting)).toEqual({ answeredBy: 'a' });
  });

  it('does not wait for ever for it, nor that long for what nobody has', { tags: ['P-610'] }, async () => {
    const { time, claim, b, serve, call } = createCaller();
    serve(() => new Promise(() => {}));
    void call().catch(() => {});
    await time.pass(10);
    void b.calls.drain();
    await expect(time.until(call())).rejects.toMatchObject({ code: 'cluster_unavailable', cause: new NotStarted('draining') });
    claim.isOurs = false;
    const before = time.steady();
    await expect(time.until(call())).rejects.toMatchObject({ code: 'cluster_unavailable', cause: new NotStarted('not_owner') });
    expect(time.steady() - before).toBeLessThan(13_000);
  });
});
