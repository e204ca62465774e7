import { BridgeError } from '@notebridge/protocol/core/errors';
import { deriveKey } from '@notebridge/protocol/util/derive-key';
import { SealedTexts } from '@notebridge/protocol/util/sealed-text';
import type { SharedStore } from '@notebridge/system/files/shared-store';
import { GrantStore } from '../../src/grants/grant-store.js';
import { readGrantEntry } from '../../src/grants/shared-grant-entry.js';
import { SharedGrants, unknownUse } from '../../src/grants/shared-grants.js';
import type { Play, Seat, SimulatedCluster } from './simulated-cluster.js';
import type { Life } from './simulated-hub.js';
import { onlyExpected, strictLogger } from './strictly.js';

const clusterKey = Buffer.alloc(32, 7);
const budget = 200;
/** What a hub may still accept after a revocation: until what it knows is five seconds old, by a clock that goes a thousandth too slow. */
const longestAfterRevokeMs = 5000 * 1.002;

/** Faults of ours that are put in on purpose, to see that they are found. */
export type PlantedInBudgets = 'writes over whatever is there' | 'believes its watch' | 'never gives a block back';

interface WatchedGrant {
  id: string;
  made: number;
  /** By the runs of hubs that made calls of it. */
  uses: Map<Life, Use>;
  /** True time at which a revocation was certainly written. */
  revokedAt: number | undefined;
  isAsked: boolean;
}

/** What one run of one hub had of a grant. */
interface Use {
  /** Calls that were counted and not made: it loses these, too, with a block that it had in hand. */
  putBack: number;
  /** Blocks that may be lost: taken or given back by a write whose outcome this hub does not know, and said so. */
  doubts: number;
  /** Writes of the grant that are under way. */
  writing: number;
  /** Times that it gives calls back just now, whatever of them is written. */
  givingBack: number;
  /** It has ended in order, and all that it gave back is written, or known to be in doubt. */
  isGivenBack: boolean;
}

/** Hubs that make calls under grants of one cluster, each whichever it likes, and revoke some of them. */
export class BudgetPlay implements Play {
  readonly cluster: SimulatedCluster;
  readonly #stores = new Map<Life, GrantStore>();
  readonly #grants: WatchedGrant[] = [];
  readonly #draining = new Set<Life>();
  /** Calls in hand. */
  readonly #underWay = new Map<Life, Set<Promise<void>>>();
  readonly #planted: PlantedInBudgets | undefined;
  /** One for each block, however many calls waited for it. */
  readonly #failures = new WeakSet<object>();
  #isCalm = false;

  constructor(cluster: SimulatedCluster, { planted }: { planted?: PlantedInBudgets } = {}) {
    this.cluster = cluster;
    this.#planted = planted;
  }

  start(seat: Seat): void {
    const { runtime, life } = seat;
    const store = this.#planted === 'writes over whatever is there' ? this.#withoutRevisions(seat.store) : seat.store;
    const logger = strictLogger(this.cluster.world, life, (message, { grant_id: id }) => {
      const watched = message === unknownUse && this.#grants.find((grant) => grant.id === id);
      if (watched) this.#useOf(watched, life).doubts++;
    });
    const options = { store: this.#counting(store, life), runtime, logger, clusterKey };
    let records: SharedGrants | undefined;
    const grants = GrantStore.over((listener) => {
      records = new SharedGrants(options, listener);
      if (this.#planted === 'believes its watch') records.isCurrent = () => true;
      records.addUsed = this.#planted === 'never gives a block back' ? async () => undefined : this.#givingBack(records, life);
      return records;
    }, options);
    for (const before of this.#stores.keys()) if (!before.isAlive) this.#stores.delete(before);
    this.#stores.set(life, grants);
    const ready = records?.start() ?? Promise.resolve();
    void seat.track('start of grants', ready).then(() => this.#work(seat, grants));
  }

  /** As a hub ends: its doors take nothing more, what it has in hand ends, and it gives back what it had taken in advance. */
  async drain(life: Life): Promise<void> {
    this.#draining.add(life);
    await Promise.allSettled(this.#underWay.get(life) ?? []);
    const began = life.runtime.steady();
    try {
      await this.#stores.get(life)?.close();
      // By its own clock, as it counts itself: where that goes too fast, its five seconds are shorter than true ones.
      const hasWaited = Math.round(life.runtime.steady() - began) >= longestWaitMs;
      for (const { uses } of this.#grants) {
        const use = uses.get(life);
        if (use === undefined) continue;
        use.isGivenBack = use.givingBack === 0 || !hasWaited;
        if (!use.isGivenBack) this.cluster.world.count('given up at the end');
      }
    } catch (error) {
      onlyExpected(this.cluster.world, `${life.name}: close`)(error);
    }
  }

  look(): void {
    const { world } = this.cluster;
    for (const [life, grants] of this.#stores) {
      if (!life.isAlive || life.isPaused || this.#draining.has(life)) continue;
      for (const { id, revokedAt } of this.#grants)
        if (revokedAt !== undefined && world.now - revokedAt > longestAfterRevokeMs && typeof grants.get(id) !== 'string')
          world.problem(`${life.name} accepts ${id}, which was revoked ${world.now - revokedAt} ms ago`);
    }
  }

  onCalm(): void {
    this.#isCalm = true;
  }

  finish(): void {
    const { world, hubs, store } = this.cluster;
    const seals = new SealedTexts(deriveKey(clusterKey, 'grants'), { bytes: (count) => world.chance.bytes(count) });
    for (const { id, made, uses, revokedAt } of this.#grants) {
      const key = `grant.${id}`;
      const used = readGrantEntry(key, store.leader.read(key, 0)?.value ?? '', seals)?.grant.used;
      if (used === undefined) world.problem(`${id} is not in the store`);
      else if (used < made) world.problem(`${id}: ${made} calls were made, and ${used} are counted`);
      else if (used - made > mayBeLost([...uses]))
        world.problem(`${id}: ${used - made} calls are lost, of ${mayBeLost([...uses])} that may be`);
      for (const { life, name } of hubs) {
        const found = life && this.#stores.get(life)?.get(id);
        const isAsExpected = revokedAt === undefined ? typeof found === 'object' || found === 'revoked' : found === 'revoked';
        if (life !== undefined && !isAsExpected) world.problem(`${name} has ${String(found)} of ${id}`);
      }
    }
  }

  #work(seat: Seat, grants: GrantStore): void {
    const { world, runtime } = seat;
    const { chance } = world;
    const turn = (): void => {
      if (this.#isCalm || this.#draining.has(seat.life)) return;
      runtime.after(chance.between(5, 300), turn);
      if (this.#grants.length < 3 && chance.happens(0.3)) this.#issue(seat, grants).catch(onlyExpected(world, 'issue'));
      const watched = this.#grants[chance.below(this.#grants.length)];
      if (watched === undefined) return;
      if (chance.happens(0.003)) this.#revoke(seat, grants, watched).catch(onlyExpected(world, 'revoke'));
      else for (let calls = chance.below(8); calls > 0; calls--) this.#begin(seat.life, this.#call(seat, grants, watched));
    };
    turn();
  }

  async #issue(seat: Seat, grants: GrantStore): Promise<void> {
    const { id } = await seat.track('issue', grants.issue({ calls: budget, ttlMs: 3_600_000 }));
    seat.world.count('grants issued');
    this.#grants.push({ id, made: 0, uses: new Map(), revokedAt: undefined, isAsked: false });
  }

  #begin(life: Life, call: Promise<void>): void {
    const underWay = this.#underWay.get(life) ?? new Set();
    this.#underWay.set(life, underWay.add(call));
    call.catch(onlyExpected(this.cluster.world, 'take a call')).finally(() => underWay.delete(call));
  }

  async #call(seat: Seat, grants: GrantStore, watched: WatchedGrant): Promise<void> {
    const { world } = seat;
    const grant = grants.get(watched.id);
    if (typeof grant === 'string') return world.count(`refused: ${grant}`);
    const use = this.#useOf(watched, seat.life);
    try {
      const taken = grants.takeCall(grant);
      if (!(await (typeof taken === 'boolean' ? taken : seat.track('take a call', taken)))) return world.count('refused: budget');
    } catch (error) {
      if (isUnknown(error) && !this.#failures.has(error)) use.doubts++;
      if (isUnknown(error)) this.#failures.add(error);
      throw error;
    }
    world.count('calls made');
    if (world.chance.happens(0.1)) {
      use.putBack++;
      return grants.putBackCall(grant);
    }
    watched.made++;
    if (watched.made > budget) world.problem(`${watched.id} has made ${watched.made} calls of ${budget}`);
  }

  async #revoke(seat: Seat, grants: GrantStore, watched: WatchedGrant): Promise<void> {
    if (watched.isAsked) return;
    watched.isAsked = true;
    if (await seat.track('revoke', grants.revoke(watched.id))) watched.revokedAt = seat.world.now;
    seat.world.count('grants revoked');
  }

  /** A planted fault: the revision is not compared. */
  #withoutRevisions(store: SharedStore): SharedStore {
    const { leader } = this.cluster.store;
    const revisionOf = (key: string) => leader.read(key, 0)?.revision;
    return { ...store, update: (key, value, revision, options) => store.update(key, value, revisionOf(key) ?? revision, options) };
  }

  #useOf({ uses }: WatchedGrant, life: Life): Use {
    const use = uses.get(life) ?? { putBack: 0, doubts: 0, writing: 0, givingBack: 0, isGivenBack: false };
    uses.set(life, use);
    return use;
  }

  /** Notes what a hub gives back until it knows what has become of it. */
  #givingBack(records: SharedGrants, life: Life): SharedGrants['addUsed'] {
    const addUsed = records.addUsed.bind(records);
    return async (changes, options) => {
      const uses = this.#grants.filter(({ id }) => (changes.get(id) ?? 0) < 0).map((watched) => this.#useOf(watched, life));
      for (const use of uses) use.givingBack++;
      try {
        return await addUsed(changes, options);
      } finally {
        for (const use of uses) use.givingBack--;
      }
    };
  }

  /** Counts what a hub has under way, which is what it loses when it is killed. */
  #counting(store: SharedStore, life: Life): SharedStore {
    const update: SharedStore['update'] = (key, ...write) => {
      const watched = this.#grants.find(({ id }) => key === `grant.${id}`);
      const written = store.update(key, ...write);
      if (watched === undefined) return written;
      const use = this.#useOf(watched, life);
      use.writing++;
      const settled = () => void use.writing--;
      written.then(settled, settled);
      return written;
    };
    return { ...store, update };
  }
}

/** So long a hub that ends waits for what it is giving back already (P-597); what is not written by then counts as used. Milliseconds. */
const longestWaitMs = 5_000;

/**
 * Calls of all blocks that may be lost: of a killed hub the one that it had in hand, and those that were under way. Of one that ended in
 * order neither, so that an end which does not wait for what is under way is found.
 */
function mayBeLost(uses: readonly [Life, Use][]): number {
  return uses.reduce((sum, [life, { doubts, putBack, writing, isGivenBack }]) => {
    const blocks = doubts + (life.isAlive || isGivenBack ? 0 : writing + 1);
    return sum + (blocks > 0 ? blocks * Math.ceil(budget / 4) + putBack : 0);
  }, 0);
}

/** Nobody can tell whether the block was taken. */
function isUnknown(error: unknown): error is BridgeError {
  return error instanceof BridgeError && error.data.outcome === 'unknown';
}
