import type { ClusterBus } from '@notebridge/cluster/cluster-bus';
import type { Life, SimulatedHub } from './simulated-hub.js';
import type { World } from './world.js';

interface Subscription {
  hub: SimulatedHub;
  life: Life;
  listener: (payload: Uint8Array) => void;
}

/** The subjects of NATS: what is published reaches whoever listens, or not, or twice, or late. */
export class SimulatedBus {
  readonly #world: World;
  readonly #maxPayload: number;
  readonly #subscriptions = new Map<string, Set<Subscription>>();

  constructor(world: World, { maxPayload = 1_048_576 }: { maxPayload?: number } = {}) {
    this.#world = world;
    this.#maxPayload = maxPayload;
  }

  /** As one run of one hub sees it. */
  clientFor(hub: SimulatedHub, life: Life): ClusterBus {
    const { link } = hub;
    return {
      maxPayload: this.#maxPayload,
      get isConnected() {
        return link.isConnected;
      },
      publish: (subject, payload) => {
        if (life.isAlive && link.isConnected) this.#publish(hub, subject, Uint8Array.from(payload));
      },
      subscribe: (subject, listener) => {
        const subscription = { hub, life, listener };
        const known = this.#subscriptions.get(subject) ?? new Set();
        this.#subscriptions.set(subject, known.add(subscription));
        return () => known.delete(subscription);
      },
      onConnection: (listener) => link.onChange((isConnected) => life.run(() => listener(isConnected))),
    };
  }

  #publish(hub: SimulatedHub, subject: string, payload: Uint8Array): void {
    if (payload.byteLength > this.#maxPayload) {
      this.#world.problem(`${hub.name} published ${payload.byteLength} bytes; ${this.#maxPayload} are allowed`);
      return;
    }
    const { chance, weather } = this.#world;
    this.#world.count('messages');
    hub.link.carry(`publishes ${subject}`, () => {
      for (const subscription of this.#subscriptions.get(subject) ?? []) {
        const times = chance.happens(weather.lost) ? 0 : chance.happens(weather.doubled) ? 2 : 1;
        if (times !== 1) this.#world.count(times === 0 ? 'messages lost' : 'messages doubled');
        for (let time = 0; time < times; time += 1) this.#deliver(subject, subscription, payload);
      }
    });
  }

  #deliver(subject: string, subscription: Subscription, payload: Uint8Array): void {
    const { hub, life, listener } = subscription;
    hub.link.carry(`gets ${subject}`, () => {
      life.run(() => {
        if (this.#subscriptions.get(subject)?.has(subscription)) listener(Uint8Array.from(payload));
      });
    });
  }
}
