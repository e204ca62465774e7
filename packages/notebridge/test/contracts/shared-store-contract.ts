import { type SharedStore, StoreConflict } from '@notebridge/system/files/shared-store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSeen } from './seen-changes.js';
import { describeStoreLosses, type StoreDisturbance } from './store-losses-contract.js';

/** A store as two hubs have it, and how time passes there. */
export interface StoreUnderTest {
  /** Of two hubs, on the same data. */
  stores: readonly [SharedStore, SharedStore];
  /** Waits for an operation: a simulation moves its clock until it has settled. Default: as it is. */
  settle?<T>(operation: Promise<T>): Promise<T>;
  /** Calls until it throws no more, for at least 20 s of the store's time. */
  waitFor(check: () => Promise<void> | void): Promise<void>;
  close(): Promise<void>;
  /** Undefined: a test cannot bring it about. */
  disturb?: StoreDisturbance;
}

/** What hubs rely on, whatever the store is. It is made once; each test has a prefix of its own. */
export function describeSharedStoreContract(name: string, createStore: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps the contract of the shared store`, () => {
    let under: StoreUnderTest;
    let [one, two]: SharedStore[] = [];
    let tests = 0;
    let at = '';
    beforeAll(async () => {
      under = await createStore();
      [one, two] = under.stores.map((store) => settling(store, under.settle ?? ((operation) => operation)));
    });
    afterAll(() => under?.close());

    const stores = (): [SharedStore, SharedStore] => {
      tests += 1;
      at = `t${tests}.`;
      return [one as SharedStore, two as SharedStore];
    };
    const waitFor = (check: () => Promise<void> | void): Promise<void> => under.waitFor(check);

    describe('decisions', () => {
      it('creates what is not there, and the other hub reads it', async () => {
        const [a, b] = stores();
        expect(await b.get(`${at}k`)).toBeUndefined();
        const revision = await a.create(`${at}k`, 'v');
        expect(revision).toBeGreaterThan(0);
        await waitFor(async () => expect(await b.get(`${at}k`)).toEqual({ key: `${at}k`, value: 'v', revision }));
      });

      it('creates nothing where something is', async () => {
        const [a, b] = stores();
        const revision = await a.create(`${at}k`, 'v');
        await expect(b.create(`${at}k`, 'w')).rejects.toThrow(StoreConflict);
        await expect(a.create(`${at}k`, 'v')).rejects.toMatchObject({ key: `${at}k` });
        await waitFor(async () => expect(await b.get(`${at}k`)).toEqual({ key: `${at}k`, value: 'v', revision }));
      });

      it('writes over the revision that was read, and no other', async () => {
        const [a, b] = stores();
        const first = await a.create(`${at}k`, '1');
        const second = await b.update(`${at}k`, '2', first);
        expect(second).toBeGreaterThan(first);
        await expect(a.update(`${at}k`, '3', first)).rejects.toThrow(StoreConflict);
        const third = await a.update(`${at}k`, '3', second);
        await waitFor(async () => expect(await b.get(`${at}k`)).toEqual({ key: `${at}k`, value: '3', revision: third }));
      });

      it('writes over nothing that was never there', async () => {
        const [a] = stores();
        const of = await a.create(`${at}other`, 'v');
        await expect(a.update(`${at}k`, 'v', of)).rejects.toThrow(StoreConflict);
        await expect(a.update(`${at}k`, 'v', 0)).rejects.toThrow(StoreConflict);
        await expect(a.remove(`${at}k`, of)).rejects.toThrow(StoreConflict);
        await expect(a.remove(`${at}k`, 0)).rejects.toThrow(StoreConflict);
      });

      it('removes the revision that was read, and no other', async () => {
        const [a, b] = stores();
        const first = await a.create(`${at}k`, '1');
        const second = await a.update(`${at}k`, '2', first);
        await expect(b.remove(`${at}k`, first)).rejects.toThrow(StoreConflict);
        await b.remove(`${at}k`, second);
        await expect(a.update(`${at}k`, '3', second)).rejects.toThrow(StoreConflict);
        await expect(a.remove(`${at}k`, second)).rejects.toThrow(StoreConflict);
        await waitFor(async () => expect(await a.get(`${at}k`)).toBeUndefined());
      });

      it('creates again what was removed, under a higher revision', async () => {
        const [a, b] = stores();
        const first = await a.create(`${at}k`, '1');
        await a.remove(`${at}k`, first);
        const second = await b.create(`${at}k`, '2');
        expect(second).toBeGreaterThan(first);
        await expect(a.create(`${at}k`, '3')).rejects.toThrow(StoreConflict);
        await waitFor(async () => expect(await a.get(`${at}k`)).toMatchObject({ value: '2', revision: second }));
      });

      it('gives each write a revision above those of all earlier ones, whatever their keys', async () => {
        const [a, b] = stores();
        const revisions = [await a.create(`${at}x`, '1'), await b.create(`${at}y`, '1')];
        revisions.push(await a.update(`${at}x`, '2', revisions[0] as number), await b.create(`${at}z`, '1'));
        expect(revisions).toEqual(revisions.toSorted((low, high) => low - high));
        expect(new Set(revisions).size).toBe(4);
      });

      it('lets exactly one of those win that create at once', async () => {
        const [a, b] = stores();
        await expectOneWinner(Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? a : b).create(`${at}k`, `${index}`)));
      });

      it('lets exactly one of those win that create at once what was removed', async () => {
        const [a, b] = stores();
        await a.remove(`${at}k`, await a.create(`${at}k`, '1'));
        await expectOneWinner(Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? a : b).create(`${at}k`, `${index}`)));
      });

      it('lets exactly one of those win that write over one revision at once', async () => {
        const [a, b] = stores();
        const revision = await a.create(`${at}k`, '');
        const writes = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? a : b).update(`${at}k`, `${index}`, revision));
        await expectOneWinner([...writes, a.remove(`${at}k`, revision), b.remove(`${at}k`, revision)]);
      });
    });

    describe('what is lost', () => describeStoreLosses({ stores, waitFor, at: () => at, disturb: () => under.disturb }));

    describe('time', () => {
      it('forgets an entry when its time has run out; then it is created anew, and not written over', async () => {
        const [a, b] = stores();
        const seen = createSeen();
        const watch = await b.watch(at, seen.listener);
        const first = await a.create(`${at}k`, '1', { ttlMs: 1000 });
        await waitFor(() => expect(seen.last(`${at}k`)).toMatchObject({ entry: undefined }));
        watch.close();
        await waitFor(async () => expect(await b.get(`${at}k`)).toBeUndefined());
        await expect(a.update(`${at}k`, '2', first)).rejects.toThrow(StoreConflict);
        await expect(a.remove(`${at}k`, first)).rejects.toThrow(StoreConflict);
        const second = await b.create(`${at}k`, '3');
        expect(second).toBeGreaterThan(first);
        await expect(a.create(`${at}k`, '4')).rejects.toThrow(StoreConflict);
      });

      it('lets exactly one of those win that create at once what has run out', async () => {
        const [a, b] = stores();
        const seen = createSeen();
        const watch = await a.watch(at, seen.listener);
        await a.create(`${at}k`, '1', { ttlMs: 1000 });
        // A read may be of a time before it was created; a watch says that it is gone.
        await waitFor(() => expect(seen.last(`${at}k`)).toMatchObject({ entry: undefined }));
        watch.close();
        await expectOneWinner(Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? a : b).create(`${at}k`, `${index}`)));
      });

      it('counts anew from each write, and not at all after one without a time', async () => {
        const [a, b] = stores();
        const seen = createSeen();
        const watch = await a.watch(at, seen.listener);
        // Each round may take a busy machine so long; all of them do.
        const ttlMs = 6000;
        let renewed = await a.create(`${at}renewed`, '0', { ttlMs });
        const kept = await a.update(`${at}kept`, '1', await a.create(`${at}kept`, '0', { ttlMs }));
        for (const round of ['1', '2', '3', '4', '5', '6']) {
          await a.create(`${at}clock${round}`, '', { ttlMs: 1000 });
          await waitFor(() => expect(seen.last(`${at}clock${round}`)).toMatchObject({ entry: undefined }));
          renewed = await a.update(`${at}renewed`, round, renewed, { ttlMs });
        }
        await waitFor(async () => expect(await b.get(`${at}renewed`)).toMatchObject({ value: '6' }));
        await waitFor(async () => expect(await b.get(`${at}kept`)).toMatchObject({ value: '1', revision: kept }));
        watch.close();
      });
    });

    describe('reading', () => {
      it('lists what is below a prefix, and nothing that is gone or beside it', async () => {
        const [a, b] = stores();
        const [x, y, , gone] = await Promise.all(['p.x', 'p.y.z', 'pq.x', 'p.gone'].map((key) => a.create(`${at}${key}`, key)));
        await a.create(`${at}p`, 'not below');
        await a.remove(`${at}p.gone`, gone as number);
        await waitFor(async () =>
          expect((await b.list(`${at}p.`)).toSorted((left, right) => left.key.localeCompare(right.key))).toEqual([
            { key: `${at}p.x`, value: 'p.x', revision: x },
            { key: `${at}p.y.z`, value: 'p.y.z', revision: y },
          ]),
        );
        expect(await b.list(`${at}nothing.`)).toEqual([]);
        const all = expect.arrayContaining([`${at}p.x`, `${at}pq.x`, `${at}p`]);
        await waitFor(async () => expect((await b.list('')).map(({ key }) => key)).toEqual(all));
      });

      it('keeps any text, and keys of all that keys may have', async () => {
        const [a, b] = stores();
        const key = `${at}AZaz09-_=.=e2=82=ac.-.${'k'.repeat(200)}`;
        const values = ['', '{"a":"é€😀\u0000\r\n"}', 'x'.repeat(300_000), '€'.repeat(100_000)];
        let revision: number | undefined;
        for (const value of values) {
          revision = revision === undefined ? await a.create(key, value) : await a.update(key, value, revision);
          await waitFor(async () => expect((await b.get(key))?.value === value).toBe(true));
        }
        await waitFor(async () =>
          expect((await b.list(at)).map((entry) => [entry.key, entry.value === values.at(-1)])).toEqual([[key, true]]),
        );
      });

      it.each(['', '.', 'a.', '.a', 'a..b', 'a b', 'a*', 'a.>', 'a/b', 'ä', 'a\n'])('refuses the key %j', async (key) => {
        const [a] = stores();
        for (const refused of [a.get(key), a.create(key, 'v'), a.update(key, 'v', 1), a.remove(key, 1)]) {
          await expect(refused).rejects.toThrow(TypeError);
        }
      });

      it.each(['a', '.', 'a..', 'a.*.', '>', 'a b.'])('refuses the prefix %j', async (prefix) => {
        const [a] = stores();
        await expect(a.list(prefix)).rejects.toThrow(TypeError);
        await expect(a.watch(prefix, () => {})).rejects.toThrow(TypeError);
      });

      it('refuses a value of half a megabyte', async () => {
        const [a] = stores();
        await expect(a.create(`${at}k`, 'x'.repeat(500_000))).rejects.toThrow(TypeError);
        await expect(a.create(`${at}k`, '€'.repeat(200_000))).rejects.toThrow(TypeError);
      });
    });

    describe('watching', () => {
      it('tells what there is before it resolves, and nothing beside the prefix', async () => {
        const [a, b] = stores();
        const [x, y] = [await a.create(`${at}p.x`, '1'), await a.create(`${at}p.y`, '2')];
        await a.remove(`${at}p.gone`, await a.create(`${at}p.gone`, '3'));
        await a.create(`${at}q.x`, '4');
        await waitFor(async () => expect(await b.list(`${at}`)).toHaveLength(3));
        const seen = createSeen();
        const watch = await b.watch(`${at}p.`, seen.listener);
        expect(seen.state()).toEqual({ [`${at}p.x`]: ['1', x], [`${at}p.y`]: ['2', y] });
        watch.close();
        watch.close();
      });

      it('resolves where nothing is', async () => {
        const [a] = stores();
        const seen = createSeen();
        (await a.watch(at, seen.listener)).close();
        expect(seen.changes).toEqual([]);
      });

      it('tells creations, changes, removals and ends of time, with revisions of a key that never go down', async () => {
        const [a, b] = stores();
        const seen = createSeen();
        const watch = await b.watch(at, seen.listener);
        const first = await a.create(`${at}k`, '1');
        const second = await a.update(`${at}k`, '2', first);
        await waitFor(() => expect(seen.state()).toEqual({ [`${at}k`]: ['2', second] }));
        await a.remove(`${at}k`, second);
        await waitFor(() => expect(seen.last(`${at}k`)).toMatchObject({ entry: undefined }));
        const third = await a.create(`${at}k`, '3', { ttlMs: 1000 });
        await waitFor(() => expect(seen.changes).toContainEqual({ key: `${at}k`, revision: third, entry: expect.anything() }));
        await waitFor(() => expect(seen.last(`${at}k`)).toMatchObject({ entry: undefined }));
        const fourth = await a.create(`${at}k`, '4');
        await waitFor(() => expect(seen.state()).toEqual({ [`${at}k`]: ['4', fourth] }));
        const revisions = seen.changes.map(({ revision }) => revision);
        expect(revisions).toEqual(revisions.toSorted((low, high) => low - high));
        watch.close();
      });

      it('tells nothing once it is closed', async () => {
        const [a, b] = stores();
        const [seen, other] = [createSeen(), createSeen()];
        const watch = await b.watch(at, seen.listener);
        const control = await b.watch(at, other.listener);
        watch.close();
        await a.create(`${at}k`, '1');
        await waitFor(() => expect(other.changes).not.toEqual([]));
        expect(seen.changes).toEqual([]);
        control.close();
      });

      it('goes on when a listener throws', async () => {
        const [a, b] = stores();
        const seen = createSeen();
        const watch = await b.watch(at, (change) => {
          seen.listener(change);
          throw new Error('of a listener');
        });
        await a.create(`${at}x`, '1');
        await a.create(`${at}y`, '2');
        await waitFor(() => expect(Object.keys(seen.state())).toEqual([`${at}x`, `${at}y`]));
        watch.close();
      });

      it('tells what there is of a thousand keys', async () => {
        const [a, b] = stores();
        for (let start = 0; start < 1000; start += 100) {
          await Promise.all(Array.from({ length: 100 }, (_, index) => a.create(`${at}k${start + index}`, 'v')));
        }
        await waitFor(async () => expect(await b.list(at)).toHaveLength(1000));
        const seen = createSeen();
        (await b.watch(at, seen.listener)).close();
        expect(Object.keys(seen.state())).toHaveLength(1000);
      });
    });
  });
}

async function expectOneWinner(writes: Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(writes);
  const lost = results.filter((result) => result.status === 'rejected');
  for (const { reason } of lost) expect(reason).toBeInstanceOf(StoreConflict);
  expect(results.length - lost.length).toBe(1);
}

function settling(store: SharedStore, settle: NonNullable<StoreUnderTest['settle']>): SharedStore {
  return {
    get: (key) => settle(store.get(key)),
    list: (prefix) => settle(store.list(prefix)),
    create: (key, value, options) => settle(store.create(key, value, options)),
    update: (key, value, revision, options) => settle(store.update(key, value, revision, options)),
    remove: (key, revision) => settle(store.remove(key, revision)),
    watch: (prefix, listener) => settle(store.watch(prefix, listener)),
  };
}
