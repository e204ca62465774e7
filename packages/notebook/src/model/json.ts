import { ExactNumber, isJsonObject, type JsonObject, setMember } from '@notebridge/protocol/json';

/** The order of keys where JavaScript would use its own: keys like "10" come first there, whatever was written. */
const keyOrders = new WeakMap<object, readonly string[]>();

/** The keys of an object, in the order in which they were written. */
export function keysOf(object: JsonObject): readonly string[] {
  return keyOrders.get(object) ?? Object.keys(object);
}

/** An object whose keys keep this order. Of equal keys the last value counts, as in Python. */
export function toObject(entries: Iterable<readonly [string, unknown]>): JsonObject {
  const object: JsonObject = {};
  const keys: string[] = [];
  for (const [key, value] of entries) {
    if (!Object.hasOwn(object, key)) keys.push(key);
    setMember(object, key, value);
  }
  if (Object.keys(object).some((key, index) => key !== keys[index])) keyOrders.set(object, keys);
  return object;
}

/** Deeper values could be written, but hardly read again: Python's nbformat needs several stack frames for a level. */
const maxDepth = 200;

/**
 * A value from elsewhere as nbformat would write it: keys of all its objects sorted, no half characters in its strings (Python
 * cannot write them), numbers that JSON can hold. Throws RangeError for a value that is nested too deeply.
 */
export function toCanonical(value: unknown, depth = 0): unknown {
  if (depth > maxDepth) throw new RangeError(`is nested deeper than ${maxDepth} levels`);
  if (typeof value === 'string') return toWellFormed(value);
  if (typeof value === 'bigint') return new ExactNumber(String(value));
  if (Array.isArray(value)) return value.map((item) => toCanonical(item, depth + 1));
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort(compareCodePoints);
  return toObject(keys.map((key) => [toWellFormed(key), toCanonical(value[key], depth + 1)] as const));
}

/** A number by its value, however it is spelled: 4.0 is 4. Any other value as it is. */
export function toPlainNumber(value: unknown): unknown {
  return value instanceof ExactNumber ? value.valueOf() : value;
}

/** The text with half characters replaced, as `String.prototype.toWellFormed` does where it exists. */
export function toWellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
}

/** The order of Python's strings. JavaScript compares halves of characters instead, which differs beyond U+FFFF. */
export function compareCodePoints(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at++) {
    const [a, b] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (a === b) continue;
    const [aIsHalf, bIsHalf] = [isSurrogate(a), isSurrogate(b)];
    return aIsHalf === bIsHalf ? a - b : aIsHalf ? 1 : -1;
  }
  return left.length - right.length;
}

/** Deep equality of JSON values; the order of keys does not count. */
export function isSameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left instanceof ExactNumber || right instanceof ExactNumber) return String(left) === String(right);
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [a, b] = [left as JsonObject, right as JsonObject];
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key], b[key]));
}

/** Roughly how many characters a value takes, for budgets: texts count, structure hardly does. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 2;
  for (const key of Object.keys(value)) size += key.length + sizeOf((value as JsonObject)[key]);
  return size;
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}
