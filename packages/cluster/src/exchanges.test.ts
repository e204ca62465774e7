import { toLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it } from 'vitest';
import { createKnownHubs, createLossyBus, createVirtualTime } from '../../notebridge/test/support/hubs-in-memory.js';
import { Exchanges, hubSubject } from './exchanges.js';
import type { ExchangeEnd, ExchangeListener, HubExchange } from './hub-exchange.js';
import type { ExchangeLimits } from './link-sender.js';
import { hubWire } from './packets.js';

interface Heard {
  exchange: HubExchange;
  messages: string[];
  sizes: number[];
  end: ExchangeEnd | undefined;
}

/** Two hubs, a and b; b answers each message "x" with "x!" as its last, unless told otherwise. */
function createHubs({ seed = 1, limits, maxPayload }: { seed?: number; limits?: Partial<ExchangeLimits>; maxPayload?: number } = {}) {
  const time = createVirtualTime(seed);
  const bus = createLossyBus(time, maxPayload === undefined ? {} : { maxPayload });
  const known = createKnownHubs(['a', 'b', 'c']);
  const served: Heard[] = [];
  const warnings: string[] = [];
  const hubs = {
    answer: (exchange: HubExchange, text: Buffer): void => exchange.send(2, Buffer.concat([text, Buffer.from('!')]), { isLast: true }),
  };
  const key = Buffer.alloc(32, 7);
  const open = (id: string, own: { key?: Buffer; cluster?: string; limits?: Partial<ExchangeLimits> } = {}) => {
    const connection = bus.connect();
    const membership = known.membershipOf(id);
    const options = {
      bus: connection,
      runtime: time,
      membership,
      cluster: 'test',
      key,
      logger: toLogger((_level, line) => warnings.push(line)),
      limits,
      ...own,
    };
    const onOpen = (exchange: HubExchange): ExchangeListener => {
      const heard: Heard = { exchange, messages: [], sizes: [], end: undefined };
      served.push(heard);
      return {
        onMessage: (_kind, payload) => {
          heard.sizes.push(payload.length);
          heard.messages.push(payload.toString('utf8', 0, 40));
          hubs.answer(exchange, payload);
        },
        onEnd: (end) => {
          heard.end = end;
        },
      };
    };
    return { exchanges: new Exchanges({ ...options, onOpen }), connection, membership };
  };
  const a = open('a');
  const b = open('b');
  /** Opens an exchange; resolves when it has ended. */
  const exchange = (payload: string | Buffer, from = a, to = 'b') => {
    const messages: Buffer[] = [];
    let end: (how: ExchangeEnd) => void = () => {};
    const ended = new Promise<{ messages: Buffer[]; end: ExchangeEnd }>((resolve) => {
      end = (how) => resolve({ messages, end: how });
    });
    const opened = from.exchanges.open(to, { onMessage: (_kind, message) => messages.push(message), onEnd: (how) => end(how) });
    opened.send(1, Buffer.from(payload));
    return Object.assign(ended, { exchange: opened, messages });
  };
  return { time, bus, known, a, b, open, exchange, served, warnings, hubs };
}

const terrible = { loss: 0.2, doubling: 0.2, delayMs: 60 };

describe('Exchanges', () => {
  it('go together when they come together, though each comes on a connection of its own', async () => {
    const { time, bus, exchange } = createHubs();
    const calls = [];
    for (let call = 0; call < 20; call++) {
      calls.push(exchange(`call ${call}`));
      await Promise.resolve().then(() => {});
    }
    const ends = await time.until(Promise.all(calls));
    expect(ends.map(({ messages }) => String(messages))).toEqual(ends.map((_, call) => `call ${call}!`));
    expect(bus.traffic.messages).toBe(2);
  });

  it('take two messages for a call, and no third if others follow', async () => {
    const { time, bus, exchange, a, b, served } = createHubs();
    for (let call = 0; call < 50; call++) {
      const { end, messages } = await time.until(exchange(`call ${call}`));
      expect({ end, text: messages.map(String) }).toEqual({ end: 'done', text: [`call ${call}!`] });
    }
    expect(bus.traffic.messages).toBeLessThanOrEqual(104);
    await time.pass(100);
    expect([a.exchanges.openCount, b.exchanges.openCount]).toEqual([0, 0]);
    expect(served.every(({ end }) => end === 'done')).toBe(true);
    const { messages } = bus.traffic;
    await time.pass(60_000);
    expect(bus.traffic.messages, 'a link without exchanges is silent').toBe(messages);
  });

  it('bring each message once and in order, whatever is lost, doubled or late', { tags: ['P-519'] }, async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { time, bus, exchange, a, b, served, hubs } = createHubs({ seed });
      bus.faults = terrible;
      hubs.answer = (answered, text) => {
        for (let line = 0; line < 50; line++) answered.send(3, Buffer.from(`${text} ${line}`));
        answered.send(2, text, { isLast: true });
      };
      const calls = Array.from({ length: 20 }, (_, index) => exchange(`call ${index}`));
      const results = await time.until(Promise.all(calls));
      results.forEach(({ end, messages }, index) => {
        const lines = Array.from({ length: 50 }, (_, line) => `call ${index} ${line}`);
        expect({ end, said: messages.map(String) }).toEqual({ end: 'done', said: [...lines, `call ${index}`] });
      });
      expect(served.map(({ messages }) => messages[0]).sort()).toEqual(calls.map((_, index) => `call ${index}`).sort());
      await time.pass(30_000);
      expect([a.exchanges.openCount, b.exchanges.openCount, b.exchanges.heldBytes]).toEqual([0, 0, 0]);
    }
  });

  it('cut what is large into pieces, and have no more of it on the way than a window', { tags: ['P-521'] }, async () => {
    const { time, bus, exchange, b } = createHubs({ maxPayload: 200_000, limits: { windowBytes: 500_000 } });
    bus.faults = { loss: 0.05, delayMs: 5 };
    const large = Buffer.alloc(10_000_000, 'abcdefghij');
    const { end, messages } = await time.until(exchange(large));
    expect(end).toBe('done');
    expect(messages[0]?.equals(Buffer.concat([large, Buffer.from('!')]))).toBe(true);
    expect(bus.traffic.mostOnTheWay).toBeLessThan(1_200_000);
    expect(b.exchanges.heldBytes).toBe(0);
  });

  it('have no more on the way to one hub than the window of the link, however many there are', async () => {
    const { time, bus, exchange, hubs } = createHubs({ limits: { linkWindowBytes: 2_000_000 } });
    hubs.answer = (answered) => answered.send(2, Buffer.from('ok'), { isLast: true });
    bus.faults = { delayMs: 20 };
    await time.until(Promise.all(Array.from({ length: 20 }, () => exchange(Buffer.alloc(1_500_000)))));
    expect(bus.traffic.mostOnTheWay).toBeLessThan(2_500_000);
  });

  it('no exchange opens twice: a recorded conversation that is sent again starts nothing', { tags: ['P-519'] }, async () => {
    const { time, bus, exchange, served } = createHubs();
    bus.isRecording = true;
    bus.faults = terrible;
    await time.until(Promise.all(Array.from({ length: 30 }, (_, index) => exchange(`call ${index}`))));
    await time.pass(20_000);
    expect(served).toHaveLength(30);
    bus.faults = {};
    for (const { subject, payload } of [...bus.recorded]) bus.inject(subject, payload);
    await time.pass(20_000);
    expect(served).toHaveLength(30);
    expect((await time.until(exchange('next'))).end).toBe('done');
    expect(served).toHaveLength(31);
  });

  it('start nothing of a hub that has ended, also if it is told to be there again', { tags: ['P-519'] }, async () => {
    const { time, bus, known, exchange, served } = createHubs();
    bus.isRecording = true;
    await time.until(exchange('once'));
    known.remove('a');
    for (const { subject, payload } of [...bus.recorded]) bus.inject(subject, payload);
    known.add('a');
    for (const { subject, payload } of [...bus.recorded]) bus.inject(subject, payload);
    await time.pass(1_000);
    expect(served).toHaveLength(1);
    expect((await time.until(exchange('again'))).messages.map(String)).toEqual(['again!']);
  });

  it('end as gone, on both sides, when a hub ends, and after silence', async () => {
    const { time, known, exchange, served, hubs, a, b, bus } = createHubs();
    hubs.answer = () => {};
    const first = exchange('first');
    await time.pass(30_000);
    expect(served[0]?.end, 'a long call stays').toBeUndefined();
    known.remove('b');
    expect((await time.until(first)).end).toBe('gone');
    known.add('b');
    const second = exchange('second');
    await time.pass(1_000);
    expect(served).toHaveLength(2);
    bus.faults = { loss: 1 };
    expect((await time.until(second)).end).toBe('gone');
    await time.pass(3_000);
    expect(served.map(({ end }) => end)).toEqual(['gone', 'gone']);
    expect([a.exchanges.openCount, b.exchanges.openCount]).toEqual([0, 0]);
  });

  it('end when one side has forgotten it, long before the silence is noticed', async () => {
    const { time, bus, exchange, served, hubs } = createHubs();
    hubs.answer = () => {};
    const call = exchange('call');
    await time.pass(100);
    call.exchange.close();
    await time.pass(100);
    expect(served[0]?.end).toBe('gone');
    const other = exchange('other');
    await time.pass(100);
    bus.faults = { loss: 1 };
    served[1]?.exchange.close();
    await time.pass(1_000);
    bus.faults = {};
    const before = time.steady();
    expect((await time.until(other)).end).toBe('gone');
    expect(time.steady() - before).toBeLessThan(3_000);
  });

  it('end when this hub has lost its place, and go on under its new name', async () => {
    const { time, exchange, served, hubs, b } = createHubs();
    const { answer } = hubs;
    hubs.answer = () => {};
    const call = exchange('call');
    await time.pass(100);
    b.membership.rename('b2');
    expect((await time.until(call)).end).toBe('gone');
    expect(served[0]?.end).toBe('gone');
    expect(() => exchange('call')).toThrow('unreachable');
    hubs.answer = answer;
    expect((await time.until(exchange('call', undefined, 'b2'))).end).toBe('done');
  });

  it('wait for a connection that is away for a moment', async () => {
    const { time, exchange, b, a, served } = createHubs();
    b.connection.setConnected(false);
    const call = exchange('call');
    await time.pass(3_000);
    b.connection.setConnected(true);
    expect((await time.until(call)).end).toBe('done');
    a.connection.setConnected(false);
    expect(() => exchange('call')).toThrow('unreachable');
    expect(served).toHaveLength(1);
  });

  it('are refused above their limits, and are not begun', async () => {
    const { time, exchange, served, hubs, a, b } = createHubs({ limits: { maxExchanges: 3, maxMessageBytes: 1_000_000 } });
    hubs.answer = () => {};
    for (let call = 0; call < 3; call++) void exchange(`call ${call}`);
    expect(() => exchange('fourth')).toThrow('3 calls to another hub');
    await time.pass(1_000);
    for (const { exchange: open } of served) open.close();
    await time.pass(1_000);
    expect(a.exchanges.openCount).toBe(0);
    expect((await time.until(exchange(Buffer.alloc(2_000_000)))).end).toBe('large');
    expect(b.exchanges.heldBytes).toBe(0);
  });

  it('are told again that they were not begun, and why, when that was lost: their outcome is known', { tags: ['P-522'] }, async () => {
    const { time, bus, exchange, open: join, served, hubs, a } = createHubs();
    join('c', { limits: { maxExchanges: 40, maxMessageBytes: 1_000_000 } });
    hubs.answer = () => {};
    for (let call = 0; call < 40; call++) void exchange('long', a, 'c');
    await time.pass(1_000);
    bus.faults = { loss: 0.5, delayMs: 10 };
    const refused = await time.until(Promise.all(Array.from({ length: 40 }, () => exchange('one more', a, 'c'))));
    expect(refused.map(({ end }) => end)).toEqual(refused.map(() => 'full'));
    expect(served).toHaveLength(40);
    for (const { exchange: open } of served) open.close();
    await time.pass(20_000);
    for (let round = 0; round < 10; round++) expect((await time.until(exchange(Buffer.alloc(2_000_000), a, 'c'))).end).toBe('large');
  });

  it('lose no message because the one before it could not be handled, and end all the same', async () => {
    const { time, bus, exchange, served, hubs, warnings } = createHubs();
    hubs.answer = (_answered, text) => {
      if (String(text) === 'first') throw new Error('of a listener');
    };
    // The first is sent again when the others are there: all of them come at once.
    bus.faults = { loss: 1 };
    const call = exchange('first');
    await time.pass(5);
    bus.faults = {};
    for (const text of ['second', 'third']) call.exchange.send(1, Buffer.from(text));
    await time.pass(1_000);
    expect(served[0]?.messages).toEqual(['first', 'second', 'third']);
    expect(warnings.filter((line) => line.includes('of a listener'))).toHaveLength(1);
    const others = [exchange('a'), exchange('b')];
    await time.pass(100);
    const [one, two] = served.slice(1);
    if (one === undefined || two === undefined) return expect.fail('two more were opened');
    Object.defineProperty(one, 'end', {
      set: () => {
        throw new Error('of the end');
      },
    });
    for (const { exchange: open } of others) open.close();
    await time.pass(100);
    expect(two.end).toBe('gone');
    expect(warnings.filter((line) => line.includes('of the end'))).toHaveLength(1);
  });

  it('keep little of what was, however long one call lasts and however many others end', async () => {
    const { time, exchange, hubs, b } = createHubs();
    const { answer } = hubs;
    hubs.answer = () => {};
    const long = exchange('long');
    await time.pass(100);
    hubs.answer = answer;
    for (let round = 0; round < 20; round++)
      await time.until(Promise.all(Array.from({ length: 100 }, (_, index) => exchange(`${round} ${index}`))));
    expect(b.exchanges.rangeCount).toBeLessThanOrEqual(2);
    long.exchange.close();
    await time.pass(100);
    expect((await time.until(exchange('after'))).end).toBe('done');
  });

  it('drop what is forged, for another, of an unknown version, of a stranger or no packet, and say so once a minute', {
    tags: ['P-523'],
  }, async () => {
    const { time, bus, exchange, b, served, open, warnings } = createHubs();
    bus.isRecording = true;
    await time.until(exchange('call'));
    const [request] = bus.recorded;
    const original = request?.payload as Buffer;
    const subject = hubSubject('b');
    const change = (at: number): Buffer => {
      const changed = Buffer.from(original);
      changed[at] = (changed[at] as number) ^ 1;
      return changed;
    };
    for (let at = 0; at < original.length; at++) bus.inject(subject, change(at));
    for (let length = 0; length < original.length; length++) bus.inject(subject, original.subarray(0, length));
    for (let round = 0; round < 200; round++) bus.inject(subject, time.bytes(round));
    const stranger = open('a', { key: Buffer.alloc(32, 8) });
    void exchange('forged', stranger);
    void exchange('of another cluster', open('a', { cluster: 'other' }));
    const other = hubSubject('c');
    open('c');
    bus.inject(other, original);
    await time.pass(5_000);
    expect(served).toHaveLength(1);
    const { signature, stranger: strangers, version, unreadable } = b.exchanges.counts.dropped;
    expect([signature, strangers, version, unreadable].every((count) => count > 0)).toBe(true);
    expect(warnings.filter((line) => line.includes('was dropped'))).toHaveLength(2);
    await time.pass(60_000);
    bus.inject(subject, Buffer.from([hubWire.newest]));
    expect(warnings.filter((line) => line.includes('was dropped'))).toHaveLength(3);
  });

  it('tell the other hub when this one closes', async () => {
    const { time, exchange, a, served, hubs } = createHubs();
    hubs.answer = () => {};
    void exchange('call');
    await time.pass(100);
    a.exchanges.close();
    a.exchanges.close();
    await time.pass(100);
    expect(served[0]?.end).toBe('gone');
    expect(() => exchange('call')).toThrow('unreachable');
  });
});
