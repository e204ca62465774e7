import {
  assertStoreKey,
  assertStorePrefix,
  assertStoreValue,
  type SharedStore,
  type StoreChange,
  StoreConflict,
  StoreUnavailable,
} from '@notebridge/system/files/shared-store';
import type { Life, SimulatedHub } from './simulated-hub.js';
import { openWatch } from './simulated-watch.js';
import { StoreLeader } from './store-leader.js';
import type { World } from './world.js';

/** After so long the client of a store gives up. The request may still arrive, and be carried out. */
export const storeTimeoutMs = 5_000;

type Outcome<T> = { value: T } | { error: unknown };

/** A store with one leader and replicas that lag, behind links that fail. It does the worst that `SharedStore` allows. */
export class SimulatedStore {
  readonly leader: StoreLeader;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.leader = new StoreLeader(world);
  }

  /** As one run of one hub sees it. */
  clientFor(hub: SimulatedHub, life: Life): SharedStore {
    const { leader } = this;
    const write = <T>(label: string, apply: () => T) => this.#ask(hub, life, label, apply, true);
    const read = <T>(label: string, apply: () => T) => this.#ask(hub, life, label, apply, false);
    return {
      get: async (key) => {
        assertStoreKey(key);
        return await read(`get ${key}`, () => leader.read(key, this.#lag()));
      },
      list: async (prefix) => {
        assertStorePrefix(prefix);
        return await read(`list ${prefix}`, () => leader.list(prefix, this.#lag()));
      },
      create: async (key, value, options = {}) => {
        assertStoreKey(key);
        assertStoreValue(value);
        return await write(`create ${key}`, () => leader.create(key, value, options));
      },
      update: async (key, value, revision, options = {}) => {
        assertStoreKey(key);
        assertStoreValue(value);
        return await write(`update ${key}`, () => leader.update(key, value, revision, options));
      },
      remove: async (key, revision) => {
        assertStoreKey(key);
        await write(`remove ${key}`, () => leader.remove(key, revision));
      },
      watch: async (prefix, listener) => {
        assertStorePrefix(prefix);
        // A watch that opens after its opener has given up tells nobody.
        let isGivenUp = false;
        const hear = (change: StoreChange) => isGivenUp || listener(change);
        const parts = { world: this.#world, leader, hub, life, prefix, listener: hear };
        try {
          const { watch, told } = await read(`watch ${prefix}`, () => openWatch(parts));
          await told;
          return watch;
        } catch (error) {
          isGivenUp = true;
          throw error;
        }
      },
    };
  }

  #lag(): number {
    const { chance, weather } = this.#world;
    return chance.happens(weather.stale) ? chance.between(0, weather.lagMs) : 0;
  }

  #ask<T>(hub: SimulatedHub, life: Life, label: string, apply: () => T, isWrite: boolean): Promise<T> {
    const { chance, weather } = this.#world;
    this.#world.count(isWrite ? 'writes' : 'reads');
    return new Promise((resolve, reject) => {
      const give = (outcome: Outcome<T>) => {
        callOff();
        if ('value' in outcome) resolve(outcome.value);
        else reject(outcome.error);
      };
      const callOff = life.runtime.after(storeTimeoutMs, () => give({ error: new StoreUnavailable(`No answer to "${label}".`) }));
      if (chance.happens(weather.refused)) {
        this.#world.count('refused');
        this.#world.after(chance.between(0, 50), `${hub.name} is refused ${label}`, () =>
          life.run(() => give({ error: new StoreUnavailable(`"${label}" was refused.`) })),
        );
        return;
      }
      if (chance.happens(weather.lostRequests)) {
        this.#world.count('requests lost');
        return;
      }
      hub.link.carry(label, () => {
        const outcome = this.#outcomeOf(apply);
        if (isWrite && chance.happens(weather.lostAnswers)) this.#world.count('answers lost');
        else hub.link.carry(`answer to ${label}`, () => life.run(() => give(outcome)));
      });
    });
  }

  #outcomeOf<T>(apply: () => T): Outcome<T> {
    try {
      return { value: apply() };
    } catch (error) {
      if (error instanceof StoreConflict) this.#world.count('conflicts');
      return { error };
    }
  }
}
