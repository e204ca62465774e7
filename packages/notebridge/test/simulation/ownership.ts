import { claimPrefix, parseClaimEntry } from '@notebridge/cluster/claim-entries';
import type { Claim, Membership } from '@notebridge/cluster/cluster-parts';
import { HeldClaim } from '@notebridge/cluster/held-claim';
import { HubLease } from '@notebridge/cluster/hub-lease';
import { hubPrefix, leaseMs, parseLeaseEntry } from '@notebridge/cluster/lease-entries';
import { hubWire } from '@notebridge/cluster/packets';
import { ResourceClaims } from '@notebridge/cluster/resource-claims';
import type { SharedStore } from '@notebridge/system/files/shared-store';
import type { Play, Seat, SimulatedCluster } from './simulated-cluster.js';
import type { Life } from './simulated-hub.js';
import { storeTimeoutMs } from './simulated-store.js';
import { onlyExpected, strictLogger } from './strictly.js';
import { calm } from './weather.js';

/** After so long a watch that could not be opened is opened again. */
const watchAgainMs = 1_000;
/** How long a hub waits at most before it looks again whether something is nobody's. */
const mostPauseMs = 1_500;

/** What every hub wants to have if nobody has it, as a server with one instance. */
const wanted = ['server.one', 'server.two', 'notebook.three'];

/** What all want now and then, and of which nothing stays when it is released. */
export const forgotten = 'page.four';

/** The parts of one run of one hub. */
export interface OwningHub {
  seat: Seat;
  lease: HubLease;
  /** The lease as the other parts see it. */
  membership: Membership;
  claims: ResourceClaims;
  /** It takes nothing more. */
  isDraining: boolean;
}

/** Faults of ours that are put in on purpose, to see that they are found. */
export type Planted = 'held whatever the clock says' | 'writes over whatever is there';

interface Grant {
  claim: HeldClaim;
  hubId: string;
  life: Life;
}

/** Hubs that take, describe and release what they want, and what must hold of who has what. */
export class OwnershipPlay implements Play {
  readonly cluster: SimulatedCluster;
  readonly running = new Map<Life, OwningHub>();
  readonly #planted: Planted | undefined;
  readonly #grants = new Map<string, Grant[]>();
  readonly #highest = new Map<string, { epoch: number; hubId: string }>();
  /** From when on everything that is wanted has to be owned again. */
  #ownedFrom = Number.POSITIVE_INFINITY;
  #isCalm = false;
  #slots = 0;
  #seenChanges = 0;

  constructor(cluster: SimulatedCluster, { planted }: { planted?: Planted } = {}) {
    this.cluster = cluster;
    this.#planted = planted;
  }

  start(seat: Seat): void {
    const { runtime } = seat;
    const store = this.#planted === 'writes over whatever is there' ? this.#withoutRevisions(seat.store) : seat.store;
    const logger = strictLogger(this.cluster.world, seat.life);
    const lease = new HubLease({ store, runtime, logger, about: { name: seat.hub.name, version: '1', wire: hubWire } });
    const membership = this.#planted === 'held whatever the clock says' ? alwaysHeld(lease) : lease;
    const claims = new ResourceClaims({ store, runtime, membership, logger });
    const hub = { seat, lease, membership, claims, isDraining: false };
    this.running.set(seat.life, hub);
    void seat.track('start of claims', claims.start());
    const stopped = onlyExpected(this.cluster.world, 'start of lease', { also: ['closed'] });
    void seat.track('start of lease', lease.start()).then(() => this.#work(hub), stopped);
  }

  async drain(life: Life): Promise<void> {
    const hub = this.running.get(life);
    if (!hub) return;
    hub.isDraining = true;
    hub.lease.setDraining(true);
    const { world, store, weather } = this.cluster;
    const { link } = hub.seat.hub;
    const wasCut = link.isCut;
    const began = world.now;
    await hub.claims.close();
    await hub.lease.leave();
    // With a store that answers, nobody waits for the lease of a hub that has left.
    if (weather !== calm || wasCut || link.isCut || world.now - began > 100) return;
    world.count('handed over at once');
    const inItsName = store.leader.list(claimPrefix, 0).filter(({ value }) => parseClaimEntry(value)?.hub === hub.lease.self.id);
    for (const { key } of inItsName) world.problem(`${life.name} has left, and ${key} stands in its name`);
    const entry = store.leader.read(hubPrefix + hub.lease.self.id, 0);
    if (entry && parseLeaseEntry(entry.value) !== 'ended') world.problem(`${life.name} has left, and its lease has not ended`);
  }

  look(): void {
    this.#lookAtHolders();
    const { world } = this.cluster;
    if (world.now > this.#ownedFrom)
      for (const resource of wanted)
        if (!this.#holderOf(resource)) world.problem(`nobody has ${resource}, ${this.#backMs()} ms after the last fault`);
    for (const resource of this.#followStore()) this.#lookAtStore(resource);
  }

  /** Whose entries were changed since it was looked last. */
  #followStore(): string[] {
    const { world, store } = this.cluster;
    const changes = store.leader.log.slice(this.#seenChanges).filter(({ key }) => key.startsWith(claimPrefix));
    this.#seenChanges = store.leader.log.length;
    return changes.map(({ key, entry }) => {
      const resource = key.slice(claimPrefix.length);
      if (entry === undefined && wanted.includes(resource)) world.problem(`the entry of ${resource} was removed, and its epoch with it`);
      // Of what is forgotten the epochs begin anew.
      if (entry === undefined) this.#highest.delete(resource);
      return resource;
    });
  }

  onCalm(): void {
    this.#isCalm = true;
    this.#ownedFrom = this.cluster.world.now + this.#backMs();
  }

  /** Everything is owned again within the lease after the last fault, and what may still be under way then. */
  #backMs(): number {
    const { weather } = this.cluster;
    // By the slowest clock, to the end of which whoever looks last sees it; and until a cut connection is noticed to be there again.
    const leaseAndLookMs = leaseMs * 1.002 + weather.lateEndMs + mostPauseMs + 500;
    // What was asked before the last fault was over may come late, or be given up and asked again.
    return weather === calm ? leaseAndLookMs : leaseAndLookMs + weather.slowMs + weather.lagMs + storeTimeoutMs + watchAgainMs;
  }

  finish(): void {
    const { world, hubs } = this.cluster;
    const alive = hubs.flatMap(({ life }) => (life && this.running.get(life)) ?? []);
    if (alive.length !== hubs.length) world.problem('not all hubs are back');
    for (const { seat, lease } of alive) {
      if (!lease.isHeld()) world.problem(`${seat.hub.name} has no lease`);
      if (lease.hubs().length !== alive.length) world.problem(`${seat.hub.name} sees ${lease.hubs().length} hubs, not ${alive.length}`);
    }
    for (const resource of [...wanted, forgotten]) {
      const holder = this.#holderOf(resource);
      if (!holder && resource !== forgotten) world.problem(`nobody has ${resource}`);
      for (const { seat, claims } of alive) {
        const told = claims.ownerOf(resource)?.hub;
        if (told !== holder?.hubId) world.problem(`${seat.hub.name} holds ${told} for the owner of ${resource}, not ${holder?.hubId}`);
      }
    }
    this.#lookForLeaks(alive);
  }

  /** Takes what nobody has; now and then describes or releases what it has. */
  #work(hub: OwningHub): void {
    const { seat, claims } = hub;
    const { chance } = seat.world;
    const mine: Claim[] = [];
    const ask = <T>(what: string, promise: Promise<T>): Promise<T | undefined> =>
      seat
        .track(what, promise)
        .catch((error) => onlyExpected(seat.world, `${seat.life.name}: ${what}`, { also: hub.isDraining ? ['closed'] : [] })(error));
    const take = async (resource: string) => {
      const claim = await ask(`take ${resource}`, claims.take(resource, { by: seat.hub.name }));
      if (!(claim instanceof HeldClaim) || mine.includes(claim)) return;
      const hubId = hub.lease.self.id;
      mine.push(claim);
      claim.onLost(() => mine.splice(mine.indexOf(claim), 1));
      this.#onGrant({ claim, hubId, life: seat.life });
    };
    const turn = () => {
      if (hub.isDraining) return;
      seat.runtime.after(chance.between(200, mostPauseMs), turn);
      for (const resource of wanted) if (!claims.ownerOf(resource)) void take(resource);
      if (this.#isCalm) return;
      if (chance.happens(0.1) && !claims.ownerOf(forgotten)) void take(forgotten);
      if (chance.happens(0.15)) void take(`slot.${++this.#slots}`);
      const one = mine[chance.below(mine.length)];
      if (one && chance.happens(0.2)) void ask(`describe ${one.resource}`, one.describe({ turn: chance.word() }));
      else if (one && chance.happens(0.15)) void ask(`release ${one.resource}`, one.release({ forget: !wanted.includes(one.resource) }));
    };
    turn();
  }

  #onGrant(grant: Grant): void {
    const { claim, hubId } = grant;
    const { world } = this.cluster;
    world.count('claims taken');
    this.#grants.set(claim.resource, [...(this.#grants.get(claim.resource) ?? []), grant]);
    for (const resource of [...this.#followStore(), claim.resource]) this.#lookAtStore(resource);
    const highest = this.#highest.get(claim.resource);
    if (highest && (claim.epoch < highest.epoch || (claim.epoch === highest.epoch && hubId !== highest.hubId)))
      world.problem(`${claim.resource} was given to ${hubId} with epoch ${claim.epoch} after ${highest.epoch} of ${highest.hubId}`);
    if (!highest || claim.epoch > highest.epoch) this.#highest.set(claim.resource, { epoch: claim.epoch, hubId });
    if (highest && highest.hubId !== hubId) world.count('take-overs');
  }

  /** Never two hubs that believe to have the same at the same time. */
  #lookAtHolders(): void {
    for (const [resource, grants] of this.#grants) {
      if (grants.length < 2) continue;
      const live = grants.filter(({ claim, life }) => life.isAlive && !claim.isOver);
      if (live.length < grants.length) this.#grants.set(resource, live);
      const holders = live.filter(({ claim }) => claim.isHeld());
      if (holders.length < 2) continue;
      const names = holders.map(({ life, claim }) => `${life.name} (epoch ${claim.epoch})`);
      this.cluster.world.problem(`${names.join(' and ')} have ${resource} at the same time`);
    }
  }

  /** Whoever believes to have something stands in the store as its owner. */
  #lookAtStore(resource: string): void {
    const { world, store } = this.cluster;
    const grant = this.#holderOf(resource);
    if (!grant) return;
    const { claim, hubId, life } = grant;
    const entry = parseClaimEntry(store.leader.read(claimPrefix + resource, 0)?.value ?? '');
    if (entry?.hub !== hubId || entry.epoch !== claim.epoch)
      world.problem(`${life.name} believes to have ${resource} with epoch ${claim.epoch}; the store has ${JSON.stringify(entry)}`);
  }

  #holderOf(resource: string): Grant | undefined {
    return this.#grants.get(resource)?.find(({ claim, life }) => life.isAlive && claim.isHeld());
  }

  /** Nothing stays in the name of a hub that does not know of it. */
  #lookForLeaks(alive: readonly OwningHub[]): void {
    const { world, store } = this.cluster;
    for (const { key, value } of store.leader.list(claimPrefix, 0)) {
      const owner = parseClaimEntry(value)?.hub;
      const resource = key.slice(claimPrefix.length);
      if (!alive.some(({ lease }) => lease.self.id === owner)) continue;
      if (this.#holderOf(resource)?.hubId !== owner) world.problem(`${resource} stands in the name of ${owner}, which does not have it`);
    }
  }

  /** A planted fault: the revision is not compared. */
  #withoutRevisions(store: SharedStore): SharedStore {
    const { leader } = this.cluster.store;
    const revisionOf = (key: string) => leader.read(key, 0)?.revision;
    return {
      ...store,
      update: (key, value, revision, options) => store.update(key, value, revisionOf(key) ?? revision, options),
    };
  }
}

/** A planted fault: the check of the lease before something is started is not made. */
function alwaysHeld(lease: HubLease): Membership {
  return {
    get self() {
      return lease.self;
    },
    isHeld: () => true,
    hubs: () => lease.hubs(),
    subscribe: (listener) => lease.subscribe(listener),
  };
}
