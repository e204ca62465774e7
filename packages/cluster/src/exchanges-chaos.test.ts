import { silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it } from 'vitest';
import { roundsOf } from '../../notebridge/test/support/core-and-deep.js';
import { createKnownHubs, createLossyBus, createVirtualTime, type VirtualTime } from '../../notebridge/test/support/hubs-in-memory.js';
import { Exchanges } from './exchanges.js';
import type { ExchangeEnd, ExchangeListener, HubExchange } from './hub-exchange.js';

interface MadeCall {
  name: string;
  end: ExchangeEnd | undefined;
  heard: string[];
}

/** Three hubs that call one another while all kinds of faults befall them. */
function createChaos(time: VirtualTime) {
  const bus = createLossyBus(time);
  const known = createKnownHubs(['h0', 'h1', 'h2']);
  const startedAt = new Map<string, string[]>();
  const made: MadeCall[] = [];
  let lives = 3;

  const answer = (exchange: HubExchange, name: string): void => {
    const isLarge = time.chance() < 0.1;
    for (let line = Math.floor(time.chance() * 5); line > 0; line--) exchange.send(3, Buffer.from(`${name} line`));
    const last = (): void => exchange.send(2, Buffer.from(`${name} answer${' '.repeat(isLarge ? 700_000 : 0)}`), { isLast: true });
    if (time.chance() < 0.5) last();
    else time.after(time.chance() * 4_000, last);
  };
  const open = (id: string) => {
    const connection = bus.connect();
    const membership = known.membershipOf(id);
    const onOpen = (exchange: HubExchange): ExchangeListener => ({
      onMessage: (kind, payload) => {
        if (kind !== 1) return;
        const name = payload.toString().trim();
        startedAt.set(name, [...(startedAt.get(name) ?? []), membership.self.id]);
        answer(exchange, name);
      },
      onEnd: () => {},
    });
    const options = { bus: connection, runtime: time, membership, cluster: 'test', key: Buffer.alloc(32, 7), logger: silentLogger, onOpen };
    return { exchanges: new Exchanges({ ...options, limits: { windowBytes: 200_000, linkWindowBytes: 400_000 } }), connection, membership };
  };
  const hubs = ['h0', 'h1', 'h2'].map(open);
  const any = () => hubs[Math.floor(time.chance() * hubs.length)] as (typeof hubs)[number];

  const call = (): void => {
    const made1: MadeCall = { name: `call ${made.length}`, end: undefined, heard: [] };
    const listener: ExchangeListener = {
      onMessage: (_kind, payload) => made1.heard.push(payload.toString().trim()),
      onEnd: (end) => {
        made1.end = end;
      },
    };
    try {
      const exchange = any().exchanges.open(any().membership.self.id, listener);
      made.push(made1);
      exchange.send(1, Buffer.from(made1.name + ' '.repeat(time.chance() < 0.1 ? 700_000 : 0)));
      if (time.chance() < 0.2) time.after(time.chance() * 1_000, () => exchange.send(4, Buffer.from('cancel')));
    } catch {
      // It was not started: there is nothing to watch.
    }
  };
  const harm = (): void => {
    const { connection, membership } = any();
    const kind = time.chance();
    if (kind < 0.3) bus.faults = { loss: time.chance() * 0.6, doubling: time.chance() * 0.4, delayMs: time.chance() * 800 };
    else if (kind < 0.6) {
      connection.setConnected(false);
      time.after(time.chance() * 15_000, () => connection.setConnected(true));
    } else if (kind < 0.8) membership.rename(`h${lives++}`);
    else if (bus.recorded.length > 0) {
      for (let count = 0; count < 50; count++) {
        const { subject, payload } = bus.recorded[Math.floor(time.chance() * bus.recorded.length)] as (typeof bus.recorded)[number];
        bus.inject(subject, payload);
      }
    }
  };
  return { bus, hubs, made, startedAt, call, harm };
}

describe('Exchanges in chaos', () => {
  it('start each call at most once, give each its own answer whole, and end them all', async () => {
    for (let seed = 1; seed <= roundsOf(10); seed++) {
      const time = createVirtualTime(seed);
      const { bus, hubs, made, startedAt, call, harm } = createChaos(time);
      bus.isRecording = true;
      for (let step = 0; step < 40; step++) {
        if (time.chance() < 0.3) harm();
        for (let count = Math.floor(time.chance() * 8); count > 0; count--) call();
        await time.pass(time.chance() * 600);
      }
      bus.faults = {};
      await time.pass(40_000);
      const open = hubs.map(({ exchanges }) => [exchanges.openCount, exchanges.heldBytes]);
      expect({ seed, open, unended: made.filter(({ end }) => end === undefined) }).toEqual({
        seed,
        open: open.map(() => [0, 0]),
        unended: [],
      });
      for (const { name, end, heard } of made) {
        const starts = startedAt.get(name)?.length ?? 0;
        const isWhole = heard.every(
          (text, index) => text === `${name} ${index === heard.length - 1 && end === 'done' ? 'answer' : 'line'}`,
        );
        expect({ seed, name, isStartedOnce: starts <= 1, isWhole, isAnswered: end !== 'done' || starts === 1 }).toEqual({
          ...{ seed, name, isStartedOnce: true, isWhole: true, isAnswered: true },
        });
      }
      expect(made.filter(({ end }) => end === 'done').length).toBeGreaterThan(made.length / 4);
    }
  });
});
