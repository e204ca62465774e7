import type { ClusterBus } from '@notebridge/cluster/cluster-bus';
import type { HubView, Membership } from '@notebridge/cluster/cluster-parts';
import { hubWire } from '@notebridge/cluster/packets';
import type { Runtime } from '@notebridge/protocol/util/runtime';

/** Hubs of one process on a bus that loses, doubles and reorders, in a time that passes as fast as it can be computed. */

/** What may become of a message: each a share between 0 and 1. */
export interface BusFaults {
  loss?: number;
  doubling?: number;
  /** Longest delay, of each message anew. Milliseconds; default 1. */
  delayMs?: number;
}

export interface VirtualTime extends Runtime {
  /** The same sequence for the same seed: between 0 and 1. */
  chance(): number;
  /** Lets time pass until the promise has settled, and gives what it resolved to. Rejects if nothing more can happen. */
  until<Value>(promise: Promise<Value>): Promise<Value>;
  /** Lets so many milliseconds pass. */
  pass(ms: number): Promise<void>;
}

export function createVirtualTime(seed: number): VirtualTime {
  let state = seed >>> 0;
  const chance = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  let now = 1000;
  let order = 0;
  const timers: { at: number; order: number; call: () => void; isOff: boolean }[] = [];
  /** The next one that is due until then. */
  const next = (until: number) => {
    let first: (typeof timers)[number] | undefined;
    for (const timer of timers)
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer;
    if (first === undefined || first.at > until) return undefined;
    timers.splice(timers.indexOf(first), 1);
    return first;
  };
  const step = async (until: number): Promise<boolean> => {
    const timer = next(until);
    if (timer === undefined) return false;
    now = timer.at;
    if (!timer.isOff) timer.call();
    await new Promise((resolve) => setImmediate(resolve));
    return true;
  };
  return {
    chance,
    steady: () => now,
    now: () => 1.7e12 + now,
    after: (ms, call) => {
      const timer = { at: now + ms, order: order++, call, isOff: false };
      timers.push(timer);
      return () => {
        timer.isOff = true;
        const at = timers.indexOf(timer);
        if (at >= 0) timers.splice(at, 1);
      };
    },
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => Math.floor(chance() * 256))),
    until: async (promise) => {
      let isSettled = false;
      const settle = (): void => {
        isSettled = true;
      };
      promise.then(settle, settle);
      await new Promise((resolve) => setImmediate(resolve));
      while (!isSettled) if (!(await step(Number.POSITIVE_INFINITY))) throw new Error('Nothing more can happen.');
      return promise;
    },
    pass: async (ms) => {
      const end = now + ms;
      await new Promise((resolve) => setImmediate(resolve));
      while (await step(end));
      now = end;
    },
  };
}

export interface LossyBus {
  faults: BusFaults;
  /** All that was published, if `isRecording`. */
  readonly recorded: { subject: string; payload: Buffer }[];
  isRecording: boolean;
  /** Messages and bytes that were published, and bytes on their way. */
  readonly traffic: { messages: number; bytes: number; onTheWay: number; mostOnTheWay: number };
  /** The bus as one hub has it, which may lose its connection. */
  connect(): ClusterBus & { setConnected(isConnected: boolean): void };
  /** Delivers a message as if somebody had published it. */
  inject(subject: string, payload: Buffer): void;
}

export function createLossyBus(time: VirtualTime, { maxPayload = 1_048_576 } = {}): LossyBus {
  const listeners = new Map<string, Set<(payload: Uint8Array) => void>>();
  const deliver = (subject: string, payload: Buffer): void => {
    // As a socket has it: each receiver gets bytes of its own.
    for (const listener of [...(listeners.get(subject) ?? [])]) listener(Buffer.from(payload));
  };
  const bus: LossyBus = {
    faults: {},
    recorded: [],
    isRecording: false,
    traffic: { messages: 0, bytes: 0, onTheWay: 0, mostOnTheWay: 0 },
    inject: deliver,
    connect: () => {
      const watchers = new Set<(isConnected: boolean) => void>();
      let connected = true;
      return {
        maxPayload,
        get isConnected() {
          return connected;
        },
        setConnected(isConnected) {
          connected = isConnected;
          for (const watcher of watchers) watcher(isConnected);
        },
        publish(subject, bytes) {
          if (!connected) return;
          if (bytes.length > maxPayload) throw new Error(`A message of ${bytes.length} bytes is larger than the bus takes.`);
          const payload = Buffer.from(bytes);
          const { traffic, faults } = bus;
          traffic.messages++;
          traffic.bytes += payload.length;
          if (bus.isRecording) bus.recorded.push({ subject, payload });
          const { loss = 0, doubling = 0, delayMs = 1 } = faults;
          for (let copies = time.chance() < doubling ? 2 : 1; copies > 0; copies--) {
            if (time.chance() < loss) continue;
            traffic.onTheWay += payload.length;
            traffic.mostOnTheWay = Math.max(traffic.mostOnTheWay, traffic.onTheWay);
            time.after(time.chance() * delayMs, () => {
              traffic.onTheWay -= payload.length;
              deliver(subject, payload);
            });
          }
        },
        subscribe(subject, listener) {
          const own = (payload: Uint8Array): void => {
            if (connected) listener(payload);
          };
          const all = listeners.get(subject) ?? new Set();
          listeners.set(subject, all.add(own));
          return () => all.delete(own);
        },
        onConnection(watcher) {
          watchers.add(watcher);
          return () => watchers.delete(watcher);
        },
      };
    },
  };
  return bus;
}

export interface KnownHubs {
  /** The hubs as one of them sees them. */
  membershipOf(id: string): Membership & { rename(id: string): void };
  /** All hear that it has ended, or has come. */
  remove(id: string): void;
  add(id: string): void;
}

export function createKnownHubs(ids: readonly string[]): KnownHubs {
  const views = new Map<string, HubView>();
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const hubs: KnownHubs = {
    add: (id) => {
      views.set(id, { id, name: id, version: '0', wire: hubWire, startedAt: 0, load: 0, isDraining: false });
      tell();
    },
    remove: (id) => {
      views.delete(id);
      tell();
    },
    membershipOf: (first) => {
      let own = first;
      return {
        get self() {
          return views.get(own) ?? { id: own, name: own, version: '0', wire: hubWire, startedAt: 0, load: 0, isDraining: false };
        },
        isHeld: () => views.has(own),
        hubs: () => [...views.values()],
        subscribe: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
        rename: (id) => {
          views.delete(own);
          own = id;
          hubs.add(id);
        },
      };
    },
  };
  for (const id of ids) hubs.add(id);
  return hubs;
}
