/** A member of an object, or an item of a list, in a JSON text: offsets in bytes. */
export interface Child {
  /** Undefined for an item of a list. */
  readonly key: string | undefined;
  readonly start: number;
  /** Where its key ends; of an item `start`. */
  readonly keyEnd: number;
  readonly value: number;
  readonly end: number;
  /** Where the child before it ends; undefined for the first. */
  readonly previousEnd: number | undefined;
}

/** An object or a list in a JSON text. */
export interface Container {
  /** Of its brackets. */
  readonly open: number;
  readonly close: number;
  readonly children: readonly Child[];
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const decoder = new TextDecoder();

/** The children of the object or list that begins at `at`, in a text that the JSON reader has accepted: nothing is checked again. */
export function readContainer(bytes: Uint8Array, at: number): Container {
  const isObject = bytes[at] === 0x7b;
  const children: Child[] = [];
  let previousEnd: number | undefined;
  for (let next = skipSpace(bytes, at + 1); ; next = skipSpace(bytes, next)) {
    if (isClosing(bytes[next])) return { open: at, close: next, children };
    const start = bytes[next] === comma ? skipSpace(bytes, next + 1) : next;
    const keyEnd = isObject ? endOfString(bytes, start) : start;
    const value = isObject ? skipSpace(bytes, skipSpace(bytes, keyEnd) + 1) : start;
    next = endOfValue(bytes, value);
    children.push({ key: isObject ? keyAt(bytes, start, keyEnd) : undefined, start, keyEnd, value, end: next, previousEnd });
    previousEnd = next;
  }
}

/** True if the value at `at` is an object or a list. */
export function isContainer(bytes: Uint8Array, at: number): boolean {
  return isOpening(bytes[at]);
}

export function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at++;
  return at;
}

function endOfValue(bytes: Uint8Array, start: number): number {
  let at = start;
  let depth = 0;
  do {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (isOpening(byte)) [depth, at] = [depth + 1, at + 1];
    else if (isClosing(byte)) [depth, at] = [depth - 1, at + 1];
    else if (depth > 0) at++;
    else while (at < bytes.length && !isEndOfWord(bytes[at])) at++;
  } while (depth > 0);
  return at;
}

/** Behind the closing quote of the string that begins at `start`; 0 of one that has no end. */
export function endOfString(bytes: Uint8Array, start: number): number {
  let end = start;
  do end = bytes.indexOf(quote, end + 1);
  while (isEscaped(bytes, end));
  return end + 1;
}

function isEscaped(bytes: Uint8Array, at: number): boolean {
  let start = at;
  while (bytes[start - 1] === backslash) start--;
  return (at - start) % 2 === 1;
}

function keyAt(bytes: Uint8Array, start: number, end: number): string {
  return JSON.parse(decoder.decode(bytes.subarray(start, end)));
}

function isOpening(byte: number | undefined): boolean {
  return byte === 0x7b || byte === 0x5b;
}

function isClosing(byte: number | undefined): boolean {
  return byte === 0x7d || byte === 0x5d;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isEndOfWord(byte: number | undefined): boolean {
  return byte === comma || byte === colon || isClosing(byte) || isSpace(byte);
}
