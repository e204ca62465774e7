import { describeError } from './describe-error.js';

/** Runs something whose outcome nobody waits for, and tells its failure. */
export type Watch = (work: () => unknown) => void;

const { then } = Promise.prototype;
const { apply } = Reflect;
const NativePromise = Promise;

export interface Watching {
  watch: Watch;
  /** The value itself; if it is a promise that fails, that is told. */
  told<Value>(value: Value): Value;
}

export function createWatching(tell: (text: string) => void): Watching {
  const fail = (what: string, thrown: unknown): void => {
    const { name, message, code, stack } = describeError(thrown);
    const where = /\(code-\d+:\d+/.exec(stack)?.[0]?.replace(/\(code-\d+:/, ' in line ') ?? '';
    tell(`${what}${where}: ${name}: ${message}${code === undefined ? '' : ` (code: ${code})`}\n`);
  };
  const told = <Value>(value: Value): Value => {
    if (value instanceof NativePromise)
      apply(then, value, [undefined, (thrown: unknown) => fail('A promise failed that nobody awaits', thrown)]);
    return value;
  };
  return {
    told,
    watch(work) {
      try {
        told(work());
      } catch (thrown) {
        fail('A callback failed', thrown);
      }
    },
  };
}

/** `forEach` drops what its function returns, of an async one the promise. */
export function tellInForEach({ told }: Watching): void {
  for (const prototype of [Array.prototype, Map.prototype, Set.prototype] as { forEach: (...args: never) => unknown }[]) {
    const original = prototype.forEach;
    const value = function forEach(this: unknown, callback: unknown, that?: unknown): void {
      const heard = typeof callback === 'function' ? (...args: unknown[]) => void told(apply(callback, that, args)) : callback;
      apply(original, this, [heard]);
    };
    Object.defineProperty(prototype, 'forEach', { value, writable: true, configurable: true });
  }
}
