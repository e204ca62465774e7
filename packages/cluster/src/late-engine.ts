import { Listeners } from '@notebridge/protocol/util/listeners';
import { type SharedStore, StoreUnavailable } from '@notebridge/system/files/shared-store';
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
    const reached = new Promise<ClusterEngine>((resolve) => this.#waiting.add(resolve));
    const there = async (): Promise<SharedStore> => {
      if (this.#engine === undefined) throw new StoreUnavailable('NATS has not been reached yet.');
      return this.#engine.store;
    };
    this.store = {
      get: (key) => there().then((store) => store.get(key)),
      list: (prefix) => there().then((store) => store.list(prefix)),
      create: (key, value, options) => there().then((store) => store.create(key, value, options)),
      update: (key, value, revision, options) => there().then((store) => store.update(key, value, revision, options)),
      remove: (key, revision) => there().then((store) => store.remove(key, revision)),
      watch: (prefix, listener) => reached.then(({ store }) => store.watch(prefix, listener)),
    };
    this.bus = {
      get maxPayload() {
        return late.#engine?.bus.maxPayload ?? anyPayload;
      },
      get isConnected() {
        return late.#engine?.bus.isConnected ?? false;
      },
      publish: (subject, payload) => late.#engine?.bus.publish(subject, payload),
      subscribe: (subject, listener) => {
        let stop: (() => void) | undefined;
        const start = ({ bus }: ClusterEngine): void => {
          stop = bus.subscribe(subject, listener);
        };
        if (this.#engine === undefined) this.#waiting.add(start);
        else start(this.#engine);
        return () => {
          this.#waiting.delete(start);
          stop?.();
        };
      },
      onConnection: (listener) => late.#connection.add(listener),
    };
  }

  /** From now on everything goes there. */
  reach(engine: ClusterEngine): void {
    this.#engine = engine;
    engine.bus.onConnection((isConnected) => this.#connection.emit(isConnected));
    for (const start of [...this.#waiting]) start(engine);
    this.#waiting.clear();
    this.#connection.emit(engine.bus.isConnected);
  }
}
