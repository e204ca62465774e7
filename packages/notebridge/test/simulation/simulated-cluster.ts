import type { ClusterBus } from '@notebridge/cluster/cluster-bus';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import type { SharedStore } from '@notebridge/system/files/shared-store';
import type { Fault, Schedule } from './fault-schedule.js';
import { SimulatedBus } from './simulated-bus.js';
import { type Life, SimulatedHub } from './simulated-hub.js';
import { SimulatedStore } from './simulated-store.js';
import { calm, type Weather } from './weather.js';
import { World } from './world.js';

/** What one run of the program on one hub is given, and by which it is watched. */
export interface Seat {
  readonly world: World;
  readonly hub: SimulatedHub;
  readonly life: Life;
  readonly runtime: Runtime;
  readonly store: SharedStore;
  readonly bus: ClusterBus;
  /** Every promise that is given to a caller must settle, unless its hub is killed. */
  track<T>(label: string, promise: Promise<T>): Promise<T>;
}

/**
 * What runs on the hubs, and what must hold. A play is a plain object, so that another one can be built from it: `start` runs the one's and
 * adds its own.
 */
export interface Play {
  /** The program of one hub, in one run of it. */
  start(seat: Seat): void;
  /** The program of this run is told to end: it hands over what it has. Resolves when it has ended. */
  drain(life: Life): Promise<void>;
  /** After each event: what must hold at any time. Says what is wrong with `world.problem`. */
  look?(): void;
  /** The faults are over: from now on all has to come back. */
  onCalm?(): void;
  /** All must be back. What begins now has to succeed; what goes on by itself begins no more, so that nothing is under way at the end. */
  onBack?(): void;
  /** At the end: what must have come back. */
  finish?(): void;
}

/** From the last fault on: the lease, its late end, a store that is given up and asked again, and a little. */
const settleMs = 25_000;
const lastMs = 5_000;

/** Hubs with store and network, and what befalls them by a schedule. */
export class SimulatedCluster {
  readonly world: World;
  readonly store: SimulatedStore;
  readonly bus: SimulatedBus;
  readonly hubs: readonly SimulatedHub[];
  readonly #schedule: Schedule;
  readonly #drained = new Set<Life>();
  readonly #pending = new Map<object, { label: string; life: Life }>();

  constructor(schedule: Schedule, options: { keepsTrace?: boolean } = {}) {
    this.#schedule = schedule;
    this.world = new World(schedule.seed, options);
    this.world.weather = schedule.weather;
    this.store = new SimulatedStore(this.world);
    this.bus = new SimulatedBus(this.world);
    this.hubs = schedule.clocks.map((clocks, index) => new SimulatedHub(this.world, `hub${index + 1}`, { ...clocks }));
  }

  /** What network and store do until the last fault is over. */
  get weather(): Weather {
    return this.#schedule.weather;
  }

  /** Runs the schedule to its end. What was wrong stands in `world.problems`. */
  async run(play: Play): Promise<void> {
    const { world } = this;
    if (play.look) world.watch(() => play.look?.());
    for (const hub of this.hubs) world.after(world.chance.between(0, 2_000), `${hub.name} starts`, () => this.#start(hub, play));
    for (const fault of this.#schedule.faults) this.#plan(fault, play);
    const faultsMs = Math.max(2_000, ...this.#schedule.faults.map(({ atMs, forMs }) => atMs + forMs));
    await world.run(faultsMs + 1);
    if (world.problems.length > 0) return;
    world.note('all is calm');
    world.weather = calm;
    play.onCalm?.();
    // What is still on its way arrives after this time at the latest.
    await world.run(this.#schedule.weather.slowMs + settleMs);
    if (world.problems.length > 0) return;
    world.note('all is back');
    play.onBack?.();
    await world.run(lastMs);
    if (world.problems.length > 0) return;
    play.finish?.();
    for (const { label, life } of this.#pending.values()) if (life.isAlive) world.problem(`${life.name} still waits for "${label}"`);
  }

  #start(hub: SimulatedHub, play: Play): void {
    const life = hub.start();
    const { world } = this;
    play.start({
      ...{ world, hub, life, runtime: life.runtime },
      store: this.store.clientFor(hub, life),
      bus: this.bus.clientFor(hub, life),
      track: (label, promise) => this.#track(label, promise, life),
    });
  }

  #drain(hub: SimulatedHub, life: Life, play: Play): void {
    if (this.#drained.has(life)) return;
    this.#drained.add(life);
    void this.#track('drain', play.drain(life), life).then(
      () => {
        this.world.count('handed over');
        if (hub.life === life) hub.kill();
      },
      (error) => this.world.problem(`${life.name} could not be drained: ${error instanceof Error ? error.stack : error}`),
    );
  }

  #track<T>(label: string, promise: Promise<T>, life: Life): Promise<T> {
    const token = {};
    this.#pending.set(token, { label, life });
    const settled = () => this.#pending.delete(token);
    promise.then(settled, settled);
    return promise;
  }

  #plan({ kind, hub: index, atMs, forMs }: Fault, play: Play): void {
    const { world } = this;
    const hub = this.hubs[index % this.hubs.length];
    if (!hub) return;
    const touched = kind === 'all cut off' ? this.hubs : [hub];
    const during = (begin: (one: SimulatedHub) => void, end: (one: SimulatedHub) => void) => {
      world.after(atMs, `${kind} ${touched.map(({ name }) => name).join(' ')}`, () => {
        world.count(`faults: ${kind}`);
        for (const one of touched) begin(one);
      });
      world.after(atMs + forMs, `${kind} no more`, () => {
        for (const one of touched) end(one);
      });
    };
    switch (kind) {
      case 'killed':
        return during(
          (one) => one.kill(),
          (one) => one.life ?? this.#start(one, play),
        );
      case 'drained':
        return during(
          (one) => one.life && this.#drain(one, one.life, play),
          (one) => {
            // It had its time, as from whoever ends processes that do not end by themselves.
            if (one.life && this.#drained.has(one.life)) one.kill();
            if (!one.life) this.#start(one, play);
          },
        );
      case 'paused':
        return during(
          (one) => one.life?.pause(),
          (one) => one.life?.wake(),
        );
      case 'cut off':
      case 'all cut off':
        return during(
          (one) => one.link.cut(),
          (one) => one.link.heal(),
        );
      case 'clock set':
        return during(
          (one) => one.setClock(world.chance.between(-600_000, 600_000)),
          () => {},
        );
    }
  }
}
