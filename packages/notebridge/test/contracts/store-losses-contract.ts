import { type SharedStore, StoreConflict, type StoredEntry, StoreUnavailable } from '@notebridge/system/files/shared-store';
import { expect, it } from 'vitest';
import { createSeen } from './seen-changes.js';

/** What may befall the first store. Each returns the function that ends it. */
export interface StoreDisturbance {
  /** Writes are made, and their answers are lost. */
  loseAnswers(): () => void;
  /** Nothing passes, and it takes a while until that is noticed. */
  cut(): () => void;
}

interface StoresToDisturb {
  /** For one test, with a prefix of its own. */
  stores(): [SharedStore, SharedStore];
  at(): string;
  waitFor(check: () => Promise<void> | void): Promise<void>;
  disturb(): StoreDisturbance | undefined;
}

/** What hubs rely on when answers are lost and links are cut. */
export function describeStoreLosses(under: StoresToDisturb): void {
  it('rejects a write that had no answer, which may have been made: it is read back, and made once', async (context) => {
    const [a, b] = under.stores();
    const [at, disturb] = [under.at(), under.disturb()];
    if (disturb === undefined) return context.skip('nothing here can lose the answers of this store');
    const first = await a.create(`${at}k`, '1');
    const found = disturb.loseAnswers();
    await expect(a.update(`${at}k`, '2', first)).rejects.toThrow(StoreUnavailable);
    await expect(a.create(`${at}new`, 'v')).rejects.toThrow(StoreUnavailable);
    found();
    await expect(a.update(`${at}k`, '2', first)).rejects.toThrow(StoreConflict);
    await expect(a.create(`${at}new`, 'v')).rejects.toThrow(StoreConflict);
    let written: StoredEntry | undefined;
    await under.waitFor(async () => {
      written = await b.get(`${at}k`);
      expect(written?.value).toBe('2');
    });
    expect(await b.update(`${at}k`, '3', written?.revision ?? 0)).toBeGreaterThan(first);
  });

  it('tells a watch, when its link is there again, what was removed, changed and created meanwhile', async (context) => {
    const [a, b] = under.stores();
    const [at, disturb] = [under.at(), under.disturb()];
    if (disturb === undefined) return context.skip('nothing here can cut the link of this store');
    const [removed, changed] = [await b.create(`${at}removed`, '1'), await b.create(`${at}changed`, '1')];
    await under.waitFor(async () => expect(await a.list(at)).toHaveLength(2));
    const seen = createSeen();
    const watch = await a.watch(at, seen.listener);
    const heal = disturb.cut();
    await b.remove(`${at}removed`, removed);
    await b.update(`${at}changed`, '3', await b.update(`${at}changed`, '2', changed));
    await b.remove(`${at}short`, await b.create(`${at}short`, '1'));
    const created = await b.create(`${at}created`, '1');
    expect(Object.keys(seen.state()), 'nothing passes').toEqual([`${at}changed`, `${at}removed`]);
    heal();
    await under.waitFor(() => expect(seen.last(`${at}created`)).toMatchObject({ revision: created }));
    expect(seen.last(`${at}removed`)).toMatchObject({ entry: undefined });
    expect(seen.last(`${at}changed`)?.entry?.value).toBe('3');
    expect(seen.state()[`${at}short`]).toBeUndefined();
    watch.close();
  });
}
