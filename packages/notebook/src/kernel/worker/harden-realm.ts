/**
 * Freezes the JavaScript that Python could get hold of: what ECMAScript brings, by `ses`, and then whatever the runtime put into
 * the global scope, with all that these lead to. Afterwards it looks at everything once more.
 */
import dgram from 'node:dgram';
import net from 'node:net';
import type { Hardened } from '../messages.js';

/** What the module `ses` leaves in the global scope; the second comes by the first, and the third by the second. */
interface SesScope {
  repairIntrinsics(options: object): void;
  hardenIntrinsics(): void;
  harden<T>(value: T): T;
}

/** What stays in the global scope: ECMAScript without `eval` and its relatives, and what Pyodide uses after it is loaded. */
const kept = new Set<PropertyKey>(
  (
    'globalThis Infinity NaN undefined Object Function Array Number parseFloat parseInt Boolean String Symbol Date Promise RegExp ' +
    'Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError JSON Math Reflect ' +
    'Proxy Map Set WeakMap WeakSet WeakRef FinalizationRegistry Iterator AsyncIterator BigInt ArrayBuffer SharedArrayBuffer ' +
    'DataView Atomics Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array BigInt64Array ' +
    'BigUint64Array Float16Array Float32Array Float64Array isFinite isNaN decodeURI decodeURIComponent encodeURI ' +
    'encodeURIComponent WebAssembly TextEncoder TextDecoder AbortController console crypto performance setTimeout clearTimeout ' +
    'setImmediate queueMicrotask'
  ).split(' '),
);

/** What Node's own code and Pyodide use in this thread, though by no name of the global scope. */
const alsoFrozen = new Set<PropertyKey>(['Event', 'EventTarget', 'AbortSignal', 'DOMException', 'URL', 'URLSearchParams', 'Buffer']);

/** Needed until everything is frozen. */
const ofSes = new Set<PropertyKey>([
  'eval',
  'Compartment',
  'ModuleSource',
  'assert',
  'lockdown',
  'repairIntrinsics',
  'hardenIntrinsics',
  'harden',
]);

/** `others`: what is not in the global scope, and is shared with the runtime's own code. */
export function hardenRealm(others: readonly object[]): Hardened {
  const ses = globalThis as unknown as SesScope;
  // `ses` puts its own in the place of this `Error`, which Pyodide's errors are still made of.
  const roots: unknown[] = [...others, Object.getPrototypeOf(globalThis), globalThis.Error];
  for (const name of Reflect.ownKeys(globalThis)) {
    if (alsoFrozen.has(name)) roots.push(Reflect.get(globalThis, name));
    // The others unread: what Node makes only when it is asked for, as `Request`, is never made.
    if (!kept.has(name) && !ofSes.has(name)) Reflect.deleteProperty(globalThis, name);
  }
  // They take an answer of Node's `fetch`, and describe whatever else they get.
  for (const name of ['compileStreaming', 'instantiateStreaming']) Reflect.deleteProperty(WebAssembly, name);
  ses.repairIntrinsics(sesOptions);
  replaceFunctionConstructors();
  fixStackTraceLimit();
  ses.hardenIntrinsics();
  const { harden } = ses;
  for (const name of ofSes) Reflect.deleteProperty(globalThis, name);
  for (const name of Reflect.ownKeys(globalThis)) roots.push(Reflect.get(globalThis, name));
  for (const root of roots) if (root !== globalThis) harden(root);
  Object.freeze(globalThis);
  return { globals: Reflect.ownKeys(globalThis).length, objects: countFrozen([globalThis, ...roots]) };
}

/** Pyodide sets it around each error of Python's, and the number belongs to an object that is frozen by then. */
function fixStackTraceLimit(): void {
  Object.defineProperty(globalThis.Error, 'stackTraceLimit', { get: () => 10, set() {} });
}

const sesOptions = {
  // Pyodide and we assign to properties that a prototype has: with less than this that fails.
  overrideTaming: 'severe',
  evalTaming: 'no-eval',
  // It is ours by now, and plain.
  consoleTaming: 'unsafe',
  errorTrapping: 'none',
  unhandledRejectionTrapping: 'none',
  reporting: 'none',
};

/** `ses` leaves this to `--disallow-code-generation-from-strings` where that is set. Nobody needs them either way. */
function replaceFunctionConstructors(): void {
  for (const sample of [() => {}, async () => {}, function* () {}, async function* () {}]) {
    const prototype = Object.getPrototypeOf(sample);
    const refuse = () => {
      throw new TypeError('Function: this notebook makes no code of text');
    };
    const inert = Object.defineProperty(refuse, 'prototype', { value: prototype });
    Object.defineProperty(prototype, 'constructor', { value: inert });
    if (prototype === Function.prototype) Object.defineProperty(globalThis, 'Function', { value: inert });
  }
}

/** Looks at all that the roots lead to. What is not frozen after all stops the start: nothing of the user has run yet. */
function countFrozen(roots: readonly unknown[]): number {
  const seen = new Set<object>();
  const next: [unknown, string][] = roots.map((root) => [root, 'a root']);
  for (let entry = next.pop(); entry; entry = next.pop()) {
    const [value, path] = entry;
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue;
    seen.add(value);
    if (!Object.isFrozen(value)) throw new Error(`Hardening JavaScript: ${path} is not frozen`);
    next.push([Reflect.getPrototypeOf(value), `${path}.__proto__`]);
    for (const key of Reflect.ownKeys(value)) {
      const { value: held, get, set } = Object.getOwnPropertyDescriptor(value, key) ?? {};
      for (const found of [held, get, set]) next.push([found, `${path}.${String(key)}`]);
    }
  }
  return seen.size;
}

/** Takes from the real `process` object of this thread what acts. Python does not hold it, but Node's own code hands it about. */

/** Node's own code asks for these while the thread lives: to queue work, and to decide what to do about an error. */
const keptOfProcess = new Set<PropertyKey>([
  'nextTick',
  '_tickCallback',
  '_fatalException',
  '_events',
  '_eventsCount',
  '_maxListeners',
  '_exiting',
  'exitCode',
  'domain',
  'hrtime',
  'version',
  'versions',
  'platform',
  'arch',
]);

export function emptyProcess(process: NodeJS.Process): void {
  const inert = Object.freeze(() => {});
  for (const key of Reflect.ownKeys(process)) {
    if (keptOfProcess.has(key)) continue;
    const { configurable, writable } = Object.getOwnPropertyDescriptor(process, key) ?? {};
    // A warning is written by way of the streams and read for its options: nobody sees it here.
    if (key === 'emitWarning') Object.defineProperty(process, key, { value: inert, writable: false, configurable: false });
    else if (configurable) Reflect.deleteProperty(process, key);
    else if (writable) Object.defineProperty(process, key, { value: undefined, writable: false });
  }
  Object.preventExtensions(process);
}

/**
 * Lets this thread connect to nothing and listen nowhere: what Python may fetch, the main thread fetches. Node's permission
 * model does not cover the network before Node 25, and Python's sockets and everything built on `net` come through here.
 */
export function refuseNetwork(): void {
  const refuse = () => {
    throw new Error("Using the network: Python's thread may not");
  };
  for (const [prototype, names] of [
    [net.Socket.prototype, ['connect']],
    [net.Server.prototype, ['listen']],
    [dgram.Socket.prototype, ['bind', 'connect', 'send', 'sendto']],
  ] as const)
    for (const name of names) Object.defineProperty(prototype, name, { value: refuse, writable: false, configurable: false });
}
