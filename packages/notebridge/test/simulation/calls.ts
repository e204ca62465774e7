import { NotStarted, type Owned } from '@notebridge/cluster/cluster-parts';
import { ExchangedCalls } from '@notebridge/cluster/hub-calls';
import { RemoteCaller } from '@notebridge/cluster/remote-caller';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { codeOf } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { createContext } from '../support/create-context.js';
import { forgotten, OwnershipPlay, type OwningHub } from './ownership.js';
import type { Play, Seat, SimulatedCluster } from './simulated-cluster.js';
import type { Life } from './simulated-hub.js';
import { strictLogger } from './strictly.js';

/** Faults of ours that are put in on purpose, to see that they are found. */
export type PlantedInCalls = 'starts whatever comes' | 'calls again without an answer';

/** How long calls may still run at a hub that ends. */
const drainMs = 5_000;

interface WatchedCall {
  number: number;
  starts: number;
  /** Its caller was told that it was certainly not started. */
  isRefused: boolean;
}

/** Hubs that own things, as in `OwnershipPlay`, and call what the others own. */
export class CallsPlay implements Play {
  readonly #ownership: OwnershipPlay;
  readonly #cluster: SimulatedCluster;
  readonly #planted: PlantedInCalls | undefined;
  readonly #calls = new Map<number, WatchedCall>();
  /** By resource: the highest epoch under which a call was started. */
  readonly #startedUnder = new Map<string, number>();
  readonly #serving = new Map<Life, ExchangedCalls>();
  #isCalm = false;
  #isBack = false;

  constructor(cluster: SimulatedCluster, { planted }: { planted?: PlantedInCalls } = {}) {
    this.#cluster = cluster;
    this.#planted = planted;
    this.#ownership = new OwnershipPlay(cluster, planted === 'starts whatever comes' ? { planted: 'held whatever the clock says' } : {});
  }

  start(seat: Seat): void {
    this.#ownership.start(seat);
    const hub = this.#ownership.running.get(seat.life);
    if (!hub) throw new Error('The hub was started a line above.');
    const { runtime, bus } = seat;
    const calls = new ExchangedCalls({
      ...{ bus, runtime, membership: hub.membership, claims: hub.claims },
      cluster: 'simulated',
      key: Buffer.alloc(32, 7),
      logger: strictLogger(this.#cluster.world, seat.life),
    });
    calls.serve('', ({ resource, context }) => this.#answer(hub, resource, context));
    this.#serving.set(seat.life, calls);
    this.#callNow(hub, calls);
  }

  /** As `OpenedCluster` does: calls that run may end for a while, then what it has is another's. */
  async drain(life: Life): Promise<void> {
    const hub = this.#ownership.running.get(life);
    const calls = this.#serving.get(life);
    if (!hub || !calls) return;
    hub.isDraining = true;
    hub.lease.setDraining(true);
    await Promise.race([calls.drain(), new Promise<void>((resolve) => life.runtime.after(drainMs, resolve))]);
    await this.#ownership.drain(life);
    calls.close();
  }

  look(): void {
    // Who has what is the matter of another play; here the fault is to be found by what it does to calls.
    if (!this.#planted) this.#ownership.look();
  }

  onCalm(): void {
    this.#isCalm = true;
    this.#ownership.onCalm();
  }

  /** Every hub reaches what every other has. */
  onBack(): void {
    this.#isBack = true;
    for (const [life, calls] of this.#serving) {
      const hub = this.#ownership.running.get(life);
      if (life.isAlive && hub) for (const owned of this.#othersOf(hub)) void this.#call(hub, calls, owned);
    }
  }

  finish(): void {
    const { world } = this.#cluster;
    if (!this.#planted) this.#ownership.finish();
    for (const [life, calls] of this.#serving)
      if (life.isAlive && calls.servedCount > 0) world.problem(`${life.name} still runs ${calls.servedCount} calls of other hubs`);
  }

  /** Now and then calls what another hub has. */
  #callNow(hub: OwningHub, calls: ExchangedCalls): void {
    const { seat } = hub;
    const { chance } = seat.world;
    const turn = () => {
      if (this.#isBack) return;
      seat.runtime.after(chance.between(500, 5_000), turn);
      const others = this.#othersOf(hub);
      const owned = others[chance.below(others.length)];
      if (owned) void this.#call(hub, calls, owned);
    };
    seat.runtime.after(chance.between(500, 5_000), turn);
  }

  #othersOf({ claims, lease }: OwningHub): Owned[] {
    return claims.list('').filter((owned) => owned.hub !== lease.self.id);
  }

  async #call(hub: OwningHub, calls: ExchangedCalls, owned: Owned): Promise<void> {
    const { seat } = hub;
    const { world, runtime } = seat;
    const watched = { number: this.#calls.size + 1, starts: 0, isRefused: false };
    this.#calls.set(watched.number, watched);
    const { number } = watched;
    const isLast = this.#isBack;
    const cancellation = new Cancellation();
    if (!this.#isBack && world.chance.happens(0.1))
      runtime.after(world.chance.between(0, 3_000), () => cancellation.cancel('the caller changed its mind'));
    // Some go in several pieces, there and back.
    const params = { name: 'tool', arguments: { number, padding: 'x'.repeat(world.chance.happens(0.02) ? 150_000 : 10) } };
    const context = createContext('tools/call', params, { cancellation, callId: `call-${number}`, timestamp: runtime.now() });
    // As a server of which the cluster has one is called, wherever it is by then; or at that hub and no other.
    const follows = !this.#planted && world.chance.happens(0.5);
    const call = () =>
      follows
        ? this.#callerOf(hub, calls, owned.resource).call('tools/call', params, context)
        : calls.call(owned, 'tools/call', params, context);
    const make = () => seat.track(`call ${number} of ${owned.resource}`, call());
    try {
      const result = await (this.#planted === 'calls again without an answer' ? make().catch(make) : make());
      world.count('calls answered');
      if (result.number !== number) world.problem(`call ${number} was given the answer of call ${String(result.number)}`);
      if (result.padding !== params.arguments.padding) world.problem(`call ${number} was answered with other text than it had`);
      if (watched.starts === 0) world.problem(`call ${number} was answered, and nobody has started it`);
    } catch (error) {
      const why = error instanceof NotStarted ? 'not started' : codeOf(error);
      world.count(`calls: ${why ?? String(error)}`);
      const isRefused = error instanceof NotStarted || (follows && why === 'cluster_unavailable');
      const isExpected = isRefused || why === 'hub_gone' || why === 'cancelled';
      if (!isExpected || isLast) world.problem(`call ${number} failed with ${String(error)}`);
      if (!isRefused) return;
      watched.isRefused = true;
      if (watched.starts > 0) world.problem(`call ${number} was said not to have been started, and it was`);
    }
  }

  #callerOf(hub: OwningHub, calls: ExchangedCalls, resource: string): RemoteCaller {
    const { claims, lease, seat } = hub;
    return new RemoteCaller({
      calls,
      runtime: seat.runtime,
      find: () => {
        const owned = claims.ownerOf(resource);
        if (owned === undefined) throw new NotStarted('unreachable');
        return owned.hub === lease.self.id ? undefined : owned;
      },
      callHere: async (_method, message, { cancellation }) => {
        if (claims.held(resource)?.isHeld() !== true) throw new NotStarted('not_owner');
        seat.world.count('calls made here');
        return this.#answer(hub, resource, { message, cancellation });
      },
      what: resource,
    });
  }

  /** At the owner: the call starts in this very turn. */
  async #answer(hub: OwningHub, resource: string, call: { message: JsonObject; cancellation: Cancellation }): Promise<JsonObject> {
    const { world, runtime } = hub.seat;
    const { number, padding } = (call.message as { arguments: { number: number; padding: string } }).arguments;
    this.#onStart(hub, resource, number);
    const ms = world.chance.happens(0.2) ? world.chance.between(0, 15_000) : world.chance.between(0, 50);
    await new Promise<void>((resolve) => {
      const callOff = runtime.after(this.#isCalm ? 50 : ms, resolve);
      call.cancellation.onCancel(() => {
        callOff();
        resolve();
      });
    });
    return { number, padding };
  }

  #onStart(hub: OwningHub, resource: string, number: number): void {
    const { world } = this.#cluster;
    world.count('calls started');
    const watched = this.#calls.get(number);
    if (!watched) return world.problem(`call ${number} was started, and nobody has made it`);
    watched.starts += 1;
    if (watched.starts > 1) world.problem(`call ${number} of ${resource} was started ${watched.starts} times`);
    if (watched.isRefused) world.problem(`call ${number} was started after its caller was told that it would not be`);
    const epoch = hub.claims.held(resource)?.epoch;
    if (epoch === undefined) return world.problem(`${hub.seat.hub.name} has started call ${number} of ${resource}, which it does not have`);
    // Of what is forgotten nothing stays, and its epochs begin anew.
    if (resource === forgotten) return;
    const highest = this.#startedUnder.get(resource) ?? 0;
    if (epoch < highest) world.problem(`call ${number} of ${resource} was started in epoch ${epoch}, after one in epoch ${highest}`);
    this.#startedUnder.set(resource, Math.max(epoch, highest));
  }
}
