import { toLogger } from '@notebridge/protocol/util/logger';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemorySharedStore, type MemoryStoreClient } from '../../../test/support/memory-shared-store.js';
import { createSteppedRuntime, type SteppedRuntime } from '../../../test/support/stepped-runtime.js';
import type { Refusal } from '../http/refusal.js';
import { SharedAnswers } from './shared-answers.js';
import { type AnswerKey, type Outcome, StoredAnswers } from './stored-answers.js';

let runtime: SteppedRuntime;
let shared: MemorySharedStore;
let ended: Set<string>;
let logged: string[];

beforeEach(() => {
  runtime = createSteppedRuntime();
  shared = new MemorySharedStore(runtime);
  ended = new Set();
  logged = [];
});

const of = (key: string, holder = 'a'): AnswerKey => ({ holder, key });
const outcome = (text: string, hasRun = true): Outcome => ({ status: 200, text, headers: [], hasRun });
const again = (text: string): Outcome => ({ ...outcome(text), headers: ['idempotency-replayed', 'true'] });
const never = (): never => {
  throw new Error('called twice');
};

function openHub(name: string): { answers: SharedAnswers; store: MemoryStoreClient } {
  const store = shared.client();
  const answers = new SharedAnswers({
    store,
    runtime,
    clusterKey: Buffer.alloc(32, 7),
    hubId: () => name,
    isHubAlive: (id) => !ended.has(id),
    large: new StoredAnswers({ maxAnswers: 10, maxBytes: 10_000_000, keepMs: 600_000, now: runtime.steady }),
    keepMs: 600_000,
    logger: toLogger((_level, line) => logged.push(line)),
  });
  return { answers, store };
}

/** Lets time pass until it is done. */
async function during<Result>(work: Promise<Result>): Promise<Result> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  done.catch(() => {});
  for (let step = 0; !isDone && step < 10_000; step++) await runtime.pass(50);
  return done;
}

describe('SharedAnswers', () => {
  it('makes a call once, whichever hub it comes to again, and says that a repetition is one', { tags: ['P-077'] }, async () => {
    const [one, two] = [openHub('one'), openHub('two')];
    expect(await one.answers.run(of('k'), 'f', async () => outcome('a'))).toEqual(outcome('a'));
    expect(await during(two.answers.run(of('k'), 'f', never))).toEqual(again('a'));
    expect(await during(one.answers.run(of('k'), 'f', never))).toEqual(again('a'));
    expect(await during(two.answers.run(of('k'), 'other', never))).toMatchObject({ status: 422 });
    const text = (await shared.client().list('answer.')).map(({ key, value }) => `${key} ${value}`).join();
    expect(text).not.toContain('"a"');
    await runtime.pass(601_000);
    expect(await during(two.answers.run(of('k'), 'f', async () => outcome('b')))).toEqual(outcome('b'));
  });

  it('has a repetition wait for the hub that makes the call, and one of many at once make it', async () => {
    const hubs = ['one', 'two', 'three'].map(openHub);
    let calls = 0;
    const call = (): Promise<Outcome> => {
      calls++;
      return new Promise((resolve) => runtime.after(30_000, () => resolve(outcome('a'))));
    };
    const runs = Array.from({ length: 30 }, (_, at) => (hubs[at % 3] as (typeof hubs)[0]).answers.run(of('k'), 'f', call));
    const answered = (await during(Promise.all(runs))) as Outcome[];
    expect(calls).toBe(1);
    expect(answered.every(({ text }) => text === 'a')).toBe(true);
    expect(answered.filter(({ headers }) => headers.length === 0)).toHaveLength(1);
  });

  it('says that the outcome is unknown when that hub has ended, and does not repeat the call', { tags: ['P-077'] }, async () => {
    const [one, two] = [openHub('one'), openHub('two')];
    void one.answers.run(of('k'), 'f', () => new Promise(() => {}));
    const waiting = two.answers.run(of('k'), 'f', never);
    await runtime.pass(2000);
    ended.add('one');
    expect(await during(waiting)).toMatchObject({ status: 409, more: { error_code: 'hub_gone' } });
    expect(await during(two.answers.run(of('k'), 'f', never))).toMatchObject({ status: 409 });
  });

  it('gives the answer of a hub that has ended after it', async () => {
    const [one, two] = [openHub('one'), openHub('two')];
    await one.answers.run(of('k'), 'f', async () => outcome('a'));
    await during(one.answers.settled());
    ended.add('one');
    expect(await during(two.answers.run(of('k'), 'f', never))).toEqual(again('a'));
  });

  it('lets a repetition have its own try where the first was refused before it could run', async () => {
    const [one, two] = [openHub('one'), openHub('two')];
    expect(await one.answers.run(of('k'), 'f', async () => outcome('denied', false))).toEqual(outcome('denied', false));
    expect(await during(two.answers.run(of('k'), 'f', async () => outcome('a')))).toEqual(outcome('a'));
  });

  it.each([
    ['long', 'x'.repeat(400_000)],
    ['full of quotes, so that JSON has twice as much of it', '"'.repeat(200_000)],
  ])('keeps what is too large at the hub that made the call, and says so at the others: %s', async (_what, large) => {
    const [one, two] = [openHub('one'), openHub('two')];
    expect(await one.answers.run(of('k'), 'f', async () => outcome(large))).toEqual(outcome(large));
    expect(await during(one.answers.run(of('k'), 'f', never))).toEqual(again(large));
    const refused = (await during(two.answers.run(of('k'), 'f', never))) as Refusal;
    expect(refused).toMatchObject({ status: 409, detail: expect.stringContaining('too large'), more: { error_code: 'answer_gone' } });
  });

  it('shares what is just small enough', async () => {
    const [one, two] = [openHub('one'), openHub('two')];
    const [long, quoted] = ['x'.repeat(360_000), '"'.repeat(180_000)];
    await one.answers.run(of('k'), 'f', async () => outcome(long));
    await one.answers.run(of('l'), 'f', async () => outcome(quoted));
    expect(await during(two.answers.run(of('k'), 'f', never))).toEqual(again(long));
    expect(await during(two.answers.run(of('l'), 'f', never))).toEqual(again(quoted));
  });

  it('does not try again and again what the store will never take', async () => {
    const { answers, store } = openHub('one');
    let tries = 0;
    store.update = () => {
      tries++;
      return Promise.reject(new TypeError('No entry of a store.'));
    };
    expect(await answers.run(of('k'), 'f', async () => outcome('a'))).toEqual(outcome('a'));
    await during(answers.settled());
    expect([tries, logged]).toEqual([1, ['The answer of a call could not be stored: No entry of a store.']]);
  });

  it('makes a call once when answers of the store are lost, and none without the store', async () => {
    const [one, two] = [openHub('one'), openHub('two')];
    let writes = 0;
    one.store.fault = () => (writes++ % 2 === 0 ? 'answer lost' : undefined);
    expect(await during(one.answers.run(of('k'), 'f', async () => outcome('a')))).toEqual(outcome('a'));
    expect(await during(two.answers.run(of('k'), 'f', never))).toEqual(again('a'));
    one.store.isCut = true;
    expect(await during(one.answers.run(of('l'), 'f', never))).toMatchObject({ status: 503, more: { error_code: 'cluster_unavailable' } });
    // What may have been written of it does not stand in the way.
    one.store.isCut = false;
    expect(await during(two.answers.run(of('l'), 'f', async () => outcome('b')))).toEqual(outcome('b'));
  });

  it('withdraws a key that it could not find out to be its own', async () => {
    const [one, two] = [openHub('one'), openHub('two')];
    one.store.fault = (kind) => {
      if (kind === 'create') one.store.isCut = true;
      return 'answer lost';
    };
    const refused = one.answers.run(of('k'), 'f', never);
    expect(await during(refused)).toMatchObject({ status: 503 });
    expect(await two.store.list('answer.')).toHaveLength(1);
    one.store.isCut = false;
    one.store.fault = () => undefined;
    expect(await during(two.answers.run(of('k'), 'f', async () => outcome('b')))).toEqual(outcome('b'));
  });
});
