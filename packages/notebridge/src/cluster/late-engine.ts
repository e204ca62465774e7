import { Listeners } from '@notebridge/kit/listeners';
import { type SharedStore, type StoreChange, StoreUnavailable, type StoreWatch, type WriteOptions } from '../state/shared-store.js';
import type { ClusterBus } from './cluster-bus.js';

/** What carries a cluster, once it is reached. */
export interface ClusterEngine {
  store: SharedStore;
  bus: ClusterBus;
}

/** More is never sent before the engine is there. */
const anyPayload = 64 * 1024;

/** Store and bus of an engine that may not be reached yet: until then nothing is stored and nothing sent, and what listens waits. */
export class LateEngine {
  readonly store: SharedStore;
  readonly bus: ClusterBus;
  readonly #connection = new Listeners<boolean>();
  readonly #waiting = new Set<(engine: ClusterEngine) => void>();
  #engine: ClusterEngine | undefined;

  constructor() {
    const late = this;
    this.store = {
      get: (key) => late.#store.then((store) => store.get(key)),
      list: (prefix) => late.#store.then((store) => store.list(prefix)),
      create: (key, value, options?: WriteOptions) => late.#store.then((store) => store.create(key, value, options)),
      update: (key, value, revision, options?: WriteOptions) => late.#store.then((store) => store.update(key, value, revision, options)),
      remove: (key, revision) => late.#store.then((store) => store.remove(key, revision)),
      watch: (prefix, listener) => late.#watch(prefix, listener),
    };
    this.bus = {
      get maxPayload() {
        return late.#engine?.bus.maxPayload ?? anyPayload;
      },
      get isConnected() {
        return late.#engine?.bus.isConnected ?? false;
      },
      publish: (subject, payload) => late.#engine?.bus.publish(subject, payload),
      subscribe: (subject, listener) => late.#whenThere((engine) => engine.bus.subscribe(subject, listener)),
      onConnection: (listener) => late.#connection.add(listener),
    };
  }

  get isThere(): boolean {
    return this.#engine !== undefined;
  }

  /** From now on everything goes there. */
  reach(engine: ClusterEngine): void {
    this.#engine = engine;
    engine.bus.onConnection((isConnected) => this.#connection.emit(isConnected));
    for (const start of [...this.#waiting]) start(engine);
    this.#waiting.clear();
    this.#connection.emit(engine.bus.isConnected);
  }

  get #store(): Promise<SharedStore> {
    if (this.#engine !== undefined) return Promise.resolve(this.#engine.store);
    return Promise.reject(new StoreUnavailable('NATS has not been reached yet.'));
  }

  #watch(prefix: string, listener: (change: StoreChange) => void): Promise<StoreWatch> {
    return new Promise((resolve, reject) => {
      this.#whenThere((engine) => {
        engine.store.watch(prefix, listener).then(resolve, reject);
        return () => {};
      });
    });
  }

  #whenThere(start: (engine: ClusterEngine) => () => void): () => void {
    if (this.#engine !== undefined) return start(this.#engine);
    let stop: (() => void) | undefined;
    const later = (engine: ClusterEngine): void => {
      stop = start(engine);
    };
    this.#waiting.add(later);
    return () => {
      this.#waiting.delete(later);
      stop?.();
    };
  }
}
