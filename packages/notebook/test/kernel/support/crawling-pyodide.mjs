// @ts-check
/**
 * Stands in for `pyodide.mjs` in the tests of the crawler: loads the real one beside it, and gives Python one function more,
 * `js.crawl`. That one knows by identity what is forbidden, because it was here before everything was frozen.
 */
import * as childProcess from 'node:child_process';
import * as dgram from 'node:dgram';
import * as events from 'node:events';
import * as fs from 'node:fs';
import * as http from 'node:http';
import * as inspector from 'node:inspector';
import * as nodeModule from 'node:module';
import * as net from 'node:net';
import nodeProcess from 'node:process';
import * as stream from 'node:stream';
import * as timers from 'node:timers';
import * as tls from 'node:tls';
import * as vm from 'node:vm';
import * as workerThreads from 'node:worker_threads';
// @ts-expect-error It stands there when the test runs.
import { loadPyodide as loadReal } from './real-pyodide.mjs';

const { Reflect: reflect, Object: objects, Map: RealMap, Set: RealSet, JSON: json } = globalThis;
const { isFrozen, getOwnPropertyDescriptor } = objects;
const { isView } = ArrayBuffer;
const { apply, ownKeys, getPrototypeOf } = reflect;
const mapEntries = Map.prototype.entries;
const setValues = Set.prototype.values;
const sourceOf = Function.prototype.toString;

/** @type {Map<unknown, string>} */
const forbidden = new RealMap();
/** @type {{ [name: string]: object }} */
const modules = { childProcess, dgram, events, fs, http, inspector, module: nodeModule, net, stream, timers, tls, vm, workerThreads };
forbid('process', nodeProcess);
for (const key of ownKeys(nodeProcess)) forbid(`process.${String(key)}`, readKey(nodeProcess, key));
for (const [name, module] of objects.entries(modules)) {
  forbid(name, module);
  // `http` shows what Node makes only when it is asked for.
  for (const key of ownKeys(module))
    if (!/^(WebSocket|MessageEvent|CloseEvent)$/.test(String(key))) forbid(`${name}.${String(key)}`, readKey(module, key));
}
for (const name of ownKeys(fs.promises)) forbid(`fs.promises.${String(name)}`, readKey(fs.promises, name));
// Not those that Node makes only when they are asked for, as `Request`: here they would be made by asking.
const beyond =
  'fetch EventTarget Event MessageChannel MessagePort AbortSignal BroadcastChannel Blob Buffer structuredClone ' +
  'ReadableStream WritableStream TransformStream URL eval Function';
for (const name of beyond.split(' ')) forbid(name, readKey(globalThis, name));
for (const sample of [async () => {}, function* () {}, async function* () {}]) forbid('a constructor of code', sample.constructor);
forbid('the port to the host', workerThreads.parentPort);

/** @param {string} name @param {unknown} value */
function forbid(name, value) {
  // Some modules of Node hand on what ECMAScript has.
  if (value === ArrayBuffer.isView || value === objects) return;
  if ((typeof value === 'object' || typeof value === 'function') && value !== null && !forbidden.has(value)) forbidden.set(value, name);
}

/** @param {object} holder @param {PropertyKey} key @returns {unknown} */
function readKey(holder, key) {
  try {
    return reflect.get(holder, key);
  } catch {
    return undefined;
  }
}

/** @param {{ jsglobals: object, _loadSnapshot?: Uint8Array }} options */
export async function loadPyodide(options) {
  forbid('the memory that Python began with', options._loadSnapshot);
  /** @type {object[]} */
  const insides = [];
  const jsglobals = objects.assign(objects.create(null, objects.getOwnPropertyDescriptors(options.jsglobals)), {
    /** @param {string[]} names @param {unknown[]} roots @param {boolean} withInsides */
    crawl(names, roots, withInsides) {
      const given = roots.map((value, at) => ({ value, path: names[at] ?? '' }));
      return json.stringify(crawl(withInsides ? [...given, ...insides.map((value) => ({ value, path: 'Pyodide' }))] : given));
    },
  });
  const pyodide = await loadReal({ ...options, jsglobals });
  insides.push(pyodide, pyodide._api, pyodide._module, pyodide.FS);
  return pyodide;
}

/** @typedef {{ value: unknown, path: string }} Found */

/** @param {Found[]} next */
function crawl(next) {
  const seen = new RealSet();
  const counts = { objects: 0, functions: 0, frozen: 0 };
  /** @type {string[]} */
  const reached = [];
  /** @type {string[]} */
  const mutable = [];
  // Breadth first: the path that is told is the shortest.
  for (let at = 0; at < next.length; at++) {
    const { value, path } = /** @type {Found} */ (next[at]);
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue;
    seen.add(value);
    counts[typeof value === 'function' ? 'functions' : 'objects']++;
    if (forbidden.has(value)) {
      reached.push(`${forbidden.get(value)} by ${path}`);
      continue;
    }
    if (typeof value === 'function' && attempt(() => apply(sourceOf, value, []))?.match(/\bimport\(/)) reached.push(`import() by ${path}`);
    if (isFrozen(value)) counts.frozen++;
    else if (isShared(value)) mutable.push(path);
    for (const found of neighbours(value)) next.push({ value: found.value, path: `${path}.${found.path}` });
  }
  return { ...counts, visited: seen.size, reached, mutable };
}

/**
 * Whether somebody else may come to use what is put in here: a function, and whatever holds one. Plain data is Python's own.
 * @param {object} value
 */
function isShared(value) {
  if (typeof value === 'function') return true;
  if (isView(value)) return false;
  return (attempt(() => ownKeys(value)) ?? []).some((key) => {
    const { value: held, get } = attempt(() => getOwnPropertyDescriptor(value, key)) ?? {};
    return typeof held === 'function' || get !== undefined;
  });
}

/** @param {object} value @returns {Found[]} */
function neighbours(value) {
  /** @type {Found[]} */
  const found = [{ path: '__proto__', value: attempt(() => getPrototypeOf(value)) }];
  // A view of memory has a key for each byte.
  for (const key of isView(value) ? [] : (attempt(() => ownKeys(value)) ?? [])) {
    const { get, set, value: held } = attempt(() => getOwnPropertyDescriptor(value, key)) ?? {};
    found.push({ path: String(key), value: held });
    if (get) found.push({ path: `get ${String(key)}`, value: get }, { path: String(key), value: attempt(() => apply(get, value, [])) });
    if (set) found.push({ path: `set ${String(key)}`, value: set });
  }
  // Getters of the prototypes, asked of this very object.
  for (
    let prototype = attempt(() => getPrototypeOf(value));
    prototype;
    prototype = attempt(() => getPrototypeOf(/** @type {object} */ (prototype)))
  )
    for (const key of attempt(() => ownKeys(/** @type {object} */ (prototype))) ?? []) {
      const { get } = attempt(() => getOwnPropertyDescriptor(/** @type {object} */ (prototype), key)) ?? {};
      if (get) found.push({ path: String(key), value: attempt(() => apply(get, value, [])) });
    }
  for (const [key, entry] of attempt(() => [...apply(mapEntries, value, [])]) ?? [])
    found.push({ path: 'a key', value: key }, { path: `entry ${describe(key)}`, value: entry });
  for (const entry of attempt(() => [...apply(setValues, value, [])]) ?? []) found.push({ path: 'a member', value: entry });
  if (value instanceof WebAssembly.Table)
    for (let at = 0; at < value.length; at++) found.push({ path: `table ${at}`, value: attempt(() => value.get(at)) });
  return found.filter((entry) => entry.value !== undefined);
}

/** @param {unknown} key */
function describe(key) {
  return typeof key === 'string' || typeof key === 'number' ? String(key) : typeof key;
}

/** @template T @param {() => T} work @returns {T | undefined} */
function attempt(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}
