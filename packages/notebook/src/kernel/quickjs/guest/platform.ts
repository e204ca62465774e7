/** The few names of the web's platform that the bindings and everyday code use, and that the language does not bring. */
import type { Watch } from './watch.js';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function installPlatform(watch: Watch): void {
  const startedAt = Date.now();
  const values = {
    ...{ AbortController, AbortSignal, TextEncoder, TextDecoder, atob, btoa },
    queueMicrotask: (callback: () => unknown) => {
      if (typeof callback !== 'function') throw new TypeError('queueMicrotask needs a function.');
      void Promise.resolve().then(() => watch(callback));
    },
    performance: Object.freeze({ now: () => Date.now() - startedAt, timeOrigin: startedAt }),
  };
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

export class AbortSignal {
  aborted = false;
  reason: unknown;
  #listeners: (() => void)[] = [];

  static abort(reason?: unknown): AbortSignal {
    const controller = new AbortController();
    controller.abort(reason);
    return controller.signal;
  }

  static timeout(ms: number): AbortSignal {
    const controller = new AbortController();
    const { setTimeout } = globalThis as unknown as { setTimeout: (callback: () => void, ms: number) => void };
    setTimeout(() => controller.abort(named('TimeoutError', `The time of ${ms} ms is over.`)), ms);
    return controller.signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const controller = new AbortController();
    for (const signal of signals) {
      if (signal.aborted) controller.abort(signal.reason);
      else signal.addEventListener('abort', () => controller.abort(signal.reason));
    }
    return controller.signal;
  }

  addEventListener(type: string, listener: () => void): void {
    if (type === 'abort' && typeof listener === 'function') this.#listeners.push(listener);
  }

  removeEventListener(_type: string, listener: () => void): void {
    this.#listeners = this.#listeners.filter((known) => known !== listener);
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** @internal */
  static end(signal: AbortSignal, reason: unknown): void {
    if (signal.aborted) return;
    signal.aborted = true;
    signal.reason = reason;
    const listeners = signal.#listeners;
    signal.#listeners = [];
    for (const listener of listeners) listener();
  }
}

const endSignal = AbortSignal.end;
Reflect.deleteProperty(AbortSignal, 'end');

class AbortController {
  readonly signal = new AbortSignal();

  abort(reason: unknown = named('AbortError', 'It was aborted.')): void {
    endSignal(this.signal, reason);
  }
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

/** UTF-8 alone. */
class TextEncoder {
  readonly encoding = 'utf-8';

  encode(text: unknown = ''): Uint8Array {
    const bytes: number[] = [];
    // By code points: half of a pair becomes the sign for what cannot be read.
    for (const character of `${text}`) {
      const code = character.codePointAt(0) ?? 0;
      const point = code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
      if (point < 0x80) bytes.push(point);
      else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
      else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
      else bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    }
    return Uint8Array.from(bytes);
  }
}

/** Of characters of so many bytes more than one: what could be shorter is none. */
const least = [0, 0x80, 0x800, 0x10000];

/** UTF-8 alone. What is none becomes the sign for it. */
class TextDecoder {
  readonly encoding = 'utf-8';

  constructor(label = 'utf-8') {
    if (!/^utf-?8$/i.test(label)) throw new RangeError(`TextDecoder: only utf-8 is known here, not ${JSON.stringify(label)}.`);
  }

  decode(given: ArrayBuffer | ArrayBufferView = new ArrayBuffer(0)): string {
    const bytes = ArrayBuffer.isView(given) ? new Uint8Array(given.buffer, given.byteOffset, given.byteLength) : new Uint8Array(given);
    const parts: string[] = [];
    let text = '';
    for (let at = 0; at < bytes.length; ) {
      const first = bytes[at++] ?? 0;
      const more =
        first < 0x80 ? 0 : first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xf0 && first < 0xf5 ? 3 : -1;
      let point = more <= 0 ? first : first & (0x3f >> more);
      let isWhole = more >= 0;
      for (let count = 0; isWhole && count < more; count++) {
        const next = bytes[at] ?? 0;
        if ((next & 0xc0) === 0x80) {
          point = (point << 6) | (next & 63);
          at++;
        } else isWhole = false;
      }
      const isPoint = isWhole && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff) && point >= (least[more] ?? 0);
      text += isPoint ? String.fromCodePoint(point) : '\ufffd';
      if (text.length > 8192) {
        parts.push(text);
        text = '';
      }
    }
    parts.push(text);
    return parts.join('').replace(/^\ufeff/, '');
  }
}

function btoa(given: unknown): string {
  const text = `${given}`;
  let result = '';
  for (let at = 0; at < text.length; at += 3) {
    const codes = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)];
    if (codes.some((code) => code > 255)) throw new RangeError('btoa: a character is no byte. Encode the text first.');
    const [one = 0, two, three] = codes.map((code) => (Number.isNaN(code) ? undefined : code));
    const all = (one << 16) | ((two ?? 0) << 8) | (three ?? 0);
    result += `${alphabet[all >> 18]}${alphabet[(all >> 12) & 63]}${two === undefined ? '=' : alphabet[(all >> 6) & 63]}${three === undefined ? '=' : alphabet[all & 63]}`;
  }
  return result;
}

const values = new Int8Array(128).fill(-1);
for (let at = 0; at < alphabet.length; at++) values[alphabet.charCodeAt(at)] = at;

function atob(given: unknown): string {
  const text = `${given}`.replaceAll(/\s/g, '').replace(/={1,2}$/, '');
  const parts: string[] = [];
  let [result, bits, held] = ['', 0, 0];
  for (let at = 0; at < text.length; at++) {
    const value = values[text.charCodeAt(at)] ?? -1;
    if (value < 0) throw new RangeError('atob: this is no base64.');
    held = ((held << 6) | value) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    result += String.fromCharCode((held >> bits) & 255);
    if (result.length < 8192) continue;
    parts.push(result);
    result = '';
  }
  return parts.join('') + result;
}
