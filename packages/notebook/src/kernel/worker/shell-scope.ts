/**
 * Gives Pyodide a global scope that is neither Node's nor a page's, but that of a bare JavaScript shell: it then uses no
 * `process`, no `require`, no files, no sockets and no programs of the host, and holds none of them when Python comes.
 */
import { randomFillSync } from 'node:crypto';
import { readFileSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PlainAbortController } from './abort-signal.js';

/**
 * Returns a function that removes what only loading needs. Without `isPlain`, for tests of the other layers, what
 * lasts is the runtime's own.
 */
export function openShellScope({ isPlain }: { isPlain: boolean }): () => void {
  const loading = {
    WorkerGlobalScope: class {},
    load() {},
    read: (url: string) => readFileSync(fileOf(url), 'utf8'),
    readbuffer: (url: string) => readFileSync(fileOf(url)),
    ...(isPlain ? { MessageChannel: ImmediateChannel } : {}),
  };
  const lasting = () => ({ AbortController: PlainAbortController, ...plainFunctions() });
  for (const [name, value] of Object.entries({ process: undefined, ...loading, ...(isPlain ? lasting() : {}) }))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  return () => {
    for (const name of Object.keys(loading)) Reflect.deleteProperty(globalThis, name);
  };
}

/** Pyodide makes a path of a URL by leaving out what stands before it: spaces and the like are still encoded. */
function fileOf(url: string): string {
  return fileURLToPath(new URL(url, 'file:///'));
}

/** Pyodide takes turns of the event loop by a message to itself. This is the same without a port of Node's. */
class ImmediateChannel {
  readonly port1: { onmessage?: () => void } = {};
  readonly port2 = { postMessage: () => void setImmediate(() => this.port1.onmessage?.()) };
}

/**
 * What Pyodide needs of the runtime, as functions that hand Node nothing of Python's but numbers, texts and bytes. Node describes
 * what it refuses, and to do so it calls methods of the refused object with functions of its own.
 */
function plainFunctions(): object {
  return {
    console: plainConsole(),
    crypto: { getRandomValues },
    performance: plainClock(),
    TextDecoder: PlainDecoder,
    TextEncoder: PlainEncoder,
    ...plainTimers(),
  };
}

const RealDecoder = globalThis.TextDecoder;
const RealEncoder = globalThis.TextEncoder;
const encoder = new RealEncoder();
const maxRandomBytes = 65_536;

function getRandomValues(view: Uint8Array): Uint8Array {
  const length = Number(view.byteLength);
  if (!(length >= 0 && length <= maxRandomBytes)) throw new RangeError(`Random bytes: ${length} at once, at most ${maxRandomBytes}`);
  const bytes = new Uint8Array(length);
  randomFillSync(bytes);
  view.set(bytes);
  return view;
}

class PlainDecoder {
  readonly #decoder: TextDecoder;

  constructor(label: unknown = 'utf-8', options: { fatal?: unknown; ignoreBOM?: unknown } = {}) {
    const name = `${label}`;
    try {
      this.#decoder = new RealDecoder(name, { fatal: Boolean(options.fatal), ignoreBOM: Boolean(options.ignoreBOM) });
    } catch {
      throw new RangeError(`TextDecoder: "${name}" is no encoding`);
    }
  }

  get encoding(): string {
    return this.#decoder.encoding;
  }

  decode(input?: unknown, options?: { stream?: unknown }): string {
    if (input !== undefined && !ArrayBuffer.isView(input) && !isBuffer(input)) throw new TypeError('TextDecoder: the input is not bytes');
    try {
      return this.#decoder.decode(input, { stream: Boolean(options?.stream) });
    } catch {
      throw new TypeError('TextDecoder: the bytes are no text of this encoding');
    }
  }
}

class PlainEncoder {
  get encoding(): string {
    return 'utf-8';
  }

  encode(text: unknown = ''): Uint8Array {
    return encoder.encode(`${text}`);
  }

  encodeInto(text: unknown, target: Uint8Array): { read: number; written: number } {
    if (!isBytes(target)) throw new TypeError('TextEncoder: the target is not bytes');
    return encoder.encodeInto(`${text}`, target);
  }
}

const nameOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get;
const lengthOf = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength')?.get;

/** By what only the real ones answer to. */
function isBytes(value: unknown): boolean {
  return nameOf?.call(value) === 'Uint8Array';
}

function isBuffer(value: unknown): value is ArrayBuffer {
  try {
    return lengthOf?.call(value) !== undefined;
  } catch {
    return false;
  }
}

function plainConsole(): object {
  const say = (...values: unknown[]) => {
    const text = `${values.map(describe).join(' ')}\n`;
    try {
      writeSync(2, text);
    } catch {
      // Nobody reads it fast enough.
    }
  };
  const hush = () => {};
  return { log: hush, info: hush, debug: hush, trace: hush, warn: say, error: say };
}

function describe(value: unknown): string {
  return value instanceof Error ? `${value.name}: ${value.message}` : String(value);
}

function plainClock(): object {
  const { timeOrigin } = performance;
  const now = performance.now.bind(performance);
  return { timeOrigin, now: () => now() };
}

/** Numbers for timers: Node's objects are linked to those of its own timers, and are `this` in a callback. */
function plainTimers(): object {
  const { setTimeout, clearTimeout, setImmediate } = globalThis;
  return {
    setTimeout: (callback: (...given: unknown[]) => void, ms?: unknown, ...given: unknown[]) =>
      Number(setTimeout(() => callback(...given), Number(ms))),
    clearTimeout: (id: unknown) => clearTimeout(Number(id)),
    setImmediate: (callback: () => void) => void setImmediate(() => callback()),
    queueMicrotask: (callback: () => void) => void Promise.resolve().then(() => callback()),
  };
}
