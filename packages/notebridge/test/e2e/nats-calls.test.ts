import { toKeyPart } from '@notebridge/cluster/cluster-parts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createContext } from '../support/create-context.js';
import { hangsAfterMs } from '../support/hangs-after.js';
import { Nats, natsProgram, whyNoNats } from '../support/nats.js';
import { type NatsHub, openNatsHub } from '../support/nats-hub.js';

describe.skipIf(natsProgram === undefined)(`Calls between hubs over NATS${whyNoNats}`, () => {
  let nats: Nats;
  let a: NatsHub;
  let b: NatsHub;

  beforeAll(async () => {
    nats = await Nats.start();
    [a, b] = await Promise.all([openNatsHub([nats.url], 'a'), openNatsHub([nats.url], 'b')]);
  });

  afterAll(async () => {
    await Promise.all([a, b].map((hub) => hub?.close()));
    await nats?.[Symbol.asyncDispose]();
  });

  /** The owner as the other hub knows it, once it does. */
  const ownerOf = (resource: string) =>
    vi.waitFor(() => {
      const owned = a.claims.ownerOf(resource);
      if (owned === undefined) throw new Error(`Nobody has "${resource}".`);
      return owned;
    }, hangsAfterMs);

  it('bring 10 MB to the owner and back', { tags: ['P-521'] }, async () => {
    await b.serve('server.echo', async ({ context }) => ({ echoed: context.message.text }));
    const owned = await ownerOf('server.echo');
    const text = 'a€"\\'.repeat(2_000_000);
    const result = await a.calls.call(owned, 'tools/call', { text }, createContext('tools/call'));
    expect(result.echoed === text).toBe(true);
  });

  it('bring 2,000 calls at once, each once', { tags: ['deep'] }, async () => {
    const numbers: unknown[] = [];
    await b.serve('server.count', async ({ context }) => {
      numbers.push(context.message.n);
      return { n: context.message.n };
    });
    const owned = await ownerOf('server.count');
    const wanted = Array.from({ length: 2_000 }, (_, n) => n);
    const results = await Promise.all(wanted.map((n) => a.calls.call(owned, 'tools/call', { n }, createContext('tools/call'))));
    expect(results).toEqual(wanted.map((n) => ({ n })));
    expect(numbers).toEqual(wanted);
  });

  it('go on when NATS was away for a moment', { tags: ['deep', 'P-525'] }, async () => {
    let finish: (() => void) | undefined;
    const begun = new Promise<void>((resolve) => {
      void b.serve('server.slow', () => {
        resolve();
        return new Promise((answer) => {
          finish = () => answer({ done: true });
        });
      });
    });
    const owned = await ownerOf('server.slow');
    const outcome = a.calls.call(owned, 'tools/call', {}, createContext('tools/call'));
    await begun;
    const [node] = nats.nodes;
    await node?.kill();
    finish?.();
    await node?.start();
    expect(await outcome).toEqual({ done: true });
  });

  it.each([
    ['leaves', (hub: NatsHub) => hub.close()],
    ['is killed', (hub: NatsHub) => hub.cut()],
  ])(
    'end as "outcome unknown" when their owner %s in the middle, and are not started after that',
    { tags: ['deep', 'P-522'] },
    async (how, go) => {
      const c = await openNatsHub([nats.url], 'c');
      try {
        const resource = `server.${toKeyPart(how)}`;
        const begun = new Promise<void>((resolve) => {
          void c.serve(resource, () => {
            resolve();
            return new Promise(() => {});
          });
        });
        const owned = await ownerOf(resource);
        const outcome = a.calls.call(owned, 'tools/call', {}, createContext('tools/call')).catch((error: unknown) => error);
        await begun;
        await go(c);
        expect(await outcome).toMatchObject({ code: 'hub_gone', data: { hub: owned.hub } });
        await vi.waitFor(() => expect(a.lease.hubs().map(({ id }) => id)).not.toContain(owned.hub), { timeout: hangsAfterMs });
        await expect(a.calls.call(owned, 'tools/call', {}, createContext('tools/call'))).rejects.toMatchObject({ reason: 'unreachable' });
      } finally {
        await c.close();
      }
    },
  );
});
