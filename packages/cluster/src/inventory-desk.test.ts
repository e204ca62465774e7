// @module-tag P-587

import { silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it } from 'vitest';
import { createKnownHubs, createLossyBus, createVirtualTime } from '../../notebridge/test/support/hubs-in-memory.js';
import { askInventories } from './ask-inventories.js';
import { InventoryDesk } from './inventory-desk.js';
import { type HubInventory, inventoryQuestions } from './inventory-messages.js';

const key = Buffer.alloc(32, 1);
const timeoutMs = 3000;
const empty: HubInventory = { servers: [], notebooks: [], silent: [] };

/** Hubs that have what is said, and who asks them. */
function createHubs(inventories: Record<string, () => Promise<HubInventory>>) {
  const time = createVirtualTime(1);
  const bus = createLossyBus(time);
  const known = createKnownHubs(Object.keys(inventories));
  for (const [id, collect] of Object.entries(inventories)) {
    const membership = known.membershipOf(id);
    new InventoryDesk({ bus: bus.connect(), membership, runtime: time, cluster: 'test', key, logger: silentLogger, collect });
  }
  const ask = (hubs = Object.keys(inventories), { asKey = key, cluster = 'test' } = {}) =>
    time.until(askInventories({ bus: bus.connect(), runtime: time, cluster, key: asKey, hubs, timeoutMs }));
  return { time, bus, known, ask };
}

const server = (name: string) => ({ name, about: { placement: 'each', status: 'running' } });

describe('InventoryDesk', () => {
  it('says what each hub has, as soon as all have said it', async () => {
    const notebook = { name: 'nb1', about: { kind: 'built-in', title: 'One', location: null } };
    const { time, ask } = createHubs({
      a: async () => ({ servers: [server('x')], notebooks: [notebook], silent: ['Process 7 does not answer.'] }),
      b: async () => empty,
    });
    const since = time.steady();
    const answers = await ask();
    expect(time.steady() - since).toBeLessThan(100);
    const more = { servers: 0, notebooks: 0 };
    expect(Object.fromEntries(answers)).toEqual({
      a: { servers: [server('x')], notebooks: [notebook], silent: ['Process 7 does not answer.'], more },
      b: { ...empty, more },
    });
  });

  it('leaves out who does not answer in time, has lost its lease, or cannot say', async () => {
    const { time, known, ask } = createHubs({
      a: async () => empty,
      slow: () => new Promise(() => {}),
      gone: async () => empty,
      broken: () => Promise.reject(new Error('It cannot.')),
    });
    known.remove('gone');
    const since = time.steady();
    expect([...(await ask()).keys()]).toEqual(['a']);
    expect(time.steady() - since).toBeGreaterThanOrEqual(timeoutMs);
  });

  it('answers in one bounded message, however much there is, and says how much more', async () => {
    const long = 'é'.repeat(5000);
    const notebooks = Array.from({ length: 10_000 }, (_, at) => ({
      name: `nb${at} ${long}`,
      about: { title: long, location: long, state: long },
    }));
    const silent = Array.from({ length: 500 }, () => long);
    const { bus, ask } = createHubs({ a: async () => ({ servers: [server('x')], notebooks, silent }) });
    bus.isRecording = true;
    const answer = (await ask()).get('a');
    expect(answer?.notebooks).toHaveLength(100);
    expect(answer?.more).toEqual({ servers: 0, notebooks: 9900 });
    expect(bus.recorded).toHaveLength(2);
    expect(bus.recorded[1]?.payload.length).toBeLessThan(256 * 1024);
  });

  it('answers nobody without the key of the cluster, and believes no answer of theirs', async () => {
    let collected = 0;
    const { bus, ask } = createHubs({
      a: async () => {
        collected += 1;
        return empty;
      },
    });
    expect((await ask(['a'], { asKey: Buffer.alloc(32, 2) })).size).toBe(0);
    expect((await ask(['a'], { cluster: 'other' })).size).toBe(0);
    expect(collected).toBe(0);

    // A stranger hears all, and sends to who asks an answer to another question, and one with another content.
    bus.isRecording = true;
    await ask();
    const recorded = bus.recorded.splice(0);
    const [question, answer] = recorded;
    if (question === undefined || answer === undefined) throw new Error('Nothing was said.');
    const stranger = bus.connect();
    const stop = stranger.subscribe(question.subject, (payload) => {
      const { asker } = JSON.parse(Buffer.from(payload).subarray(32).toString()) as { asker: string };
      const changed = Buffer.from(answer.payload.toString().replace('"servers":[]', '"servers":[{"name":"evil","about":{}}]'));
      for (const forged of [answer.payload, changed]) bus.inject(`${question.subject}.${asker}`, forged);
    });
    const { servers } = (await ask()).get('a') ?? {};
    expect(servers).toEqual([]);
    stop();
    // What was asked before is not answered again.
    const { messages } = bus.traffic;
    const before = collected;
    for (let times = 0; times < 5; times++) bus.inject(question.subject, question.payload);
    bus.inject(question.subject, Buffer.from('{}'));
    bus.inject(question.subject, Buffer.alloc(0));
    expect((await ask()).size).toBe(1);
    expect([bus.traffic.messages - messages, collected - before]).toEqual([2, 1]);
  });

  it('answers no question that was recorded, however many were asked since, nor one to an earlier life of the hub', {
    tags: ['P-615'],
  }, async () => {
    let collected = 0;
    const collect = async () => {
      collected += 1;
      return empty;
    };
    const { time, bus, known, ask } = createHubs({ a: collect });
    bus.isRecording = true;
    for (let times = 0; times < 1100; times++) {
      await time.pass(10);
      await ask();
    }
    expect(collected).toBe(1100);
    const questions = bus.recorded.filter(({ subject }) => subject === inventoryQuestions);
    const { messages } = bus.traffic;
    const askAgain = async () => {
      for (const { subject, payload } of questions) bus.inject(subject, payload);
      await time.pass(1000);
      return [collected, bus.traffic.messages - messages];
    };
    expect(await askAgain()).toEqual([1100, 0]);
    // It was started anew, and remembers nothing.
    known.remove('a');
    const again = createKnownHubs(['b']).membershipOf('b');
    new InventoryDesk({ bus: bus.connect(), membership: again, runtime: time, cluster: 'test', key, logger: silentLogger, collect });
    expect(await askAgain()).toEqual([1100, 0]);
    expect((await ask(['b'])).size).toBe(1);
  });

  it('is kept from answering by an asker whose clock is ahead for no longer than clocks may differ', async () => {
    const { time, bus, ask } = createHubs({ a: async () => empty });
    const askAhead = async (aheadMs: number, times: number): Promise<number> => {
      const ahead = { ...time, now: () => time.now() + aheadMs };
      const asking = Array.from({ length: times }, () =>
        askInventories({ bus: bus.connect(), runtime: ahead, cluster: 'test', key, hubs: ['a'], timeoutMs }),
      );
      const answers = await time.until(Promise.all(asking));
      return answers.filter(({ size }) => size === 1).length;
    };
    expect(await askAhead(1e9, 1100)).toBe(0);
    expect((await ask()).size).toBe(1);
    expect(await askAhead(540_000, 1000)).toBe(1000);
    for (let times = 0; times < 20; times++) {
      await time.pass(10);
      expect((await ask()).size).toBe(1);
    }
    expect(await askAhead(540_000, 100)).toBe(100);
    await time.pass(540_000);
    expect((await ask()).size).toBe(1);
  });

  it('collects once for all who ask meanwhile', async () => {
    let collected = 0;
    let finish: () => void = () => {};
    const { time, bus } = createHubs({
      a: () => {
        collected += 1;
        return new Promise((resolve) => {
          finish = () => resolve(empty);
        });
      },
    });
    const asked = [1, 2, 3].map(() => askInventories({ bus: bus.connect(), runtime: time, cluster: 'test', key, hubs: ['a'], timeoutMs }));
    await time.pass(100);
    finish();
    const answers = await time.until(Promise.all(asked));
    expect(answers.map(({ size }) => size)).toEqual([1, 1, 1]);
    expect(collected).toBe(1);
  });
});
