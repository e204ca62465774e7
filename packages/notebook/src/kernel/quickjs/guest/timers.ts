import type { Send } from './send.js';
import type { Watch } from './watch.js';

const { create } = Object;

export interface Timers {
  /** The host says that its time has come. */
  fire(id: number): void;
  forget(): void;
}

interface Timer {
  run: () => unknown;
  everyMs: number | undefined;
}

const mostTimers = 10_000;

/** Gives code `setTimeout` and its relatives: the host counts the time. */
export function installTimers(send: Send, watch: Watch): Timers {
  let timers: { [id: number]: Timer | undefined } = create(null);
  let count = 0;
  let lastId = 0;
  const set = (callback: unknown, ms: unknown, args: unknown[], isInterval: boolean): number => {
    if (typeof callback !== 'function') throw new TypeError('A timer needs a function.');
    if (count >= mostTimers) throw new RangeError(`At most ${mostTimers} timers run at once.`);
    const delayMs = Math.max(isInterval ? 1 : 0, Math.min(Number(ms) || 0, 2 ** 31 - 1));
    const id = ++lastId;
    count++;
    timers[id] = { run: () => callback(...args), everyMs: isInterval ? delayMs : undefined };
    send('timer', id, delayMs, isInterval);
    return id;
  };
  const clear = (id: unknown): void => {
    const known = Number(id);
    if (timers[known] === undefined) return;
    delete timers[known];
    count--;
    send('clear', known);
  };
  Object.assign(globalThis, {
    setTimeout: (callback: unknown, ms?: unknown, ...args: unknown[]) => set(callback, ms, args, false),
    setInterval: (callback: unknown, ms?: unknown, ...args: unknown[]) => set(callback, ms, args, true),
    setImmediate: (callback: unknown, ...args: unknown[]) => set(callback, 0, args, false),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  });
  return {
    fire(id) {
      const timer = timers[id];
      if (timer === undefined) return;
      if (timer.everyMs === undefined) {
        delete timers[id];
        count--;
      } else send('timer', id, timer.everyMs, true);
      watch(timer.run);
    },
    forget() {
      timers = create(null);
      count = 0;
    },
  };
}
