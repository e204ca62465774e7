import { printJson } from '@notebridge/protocol/exact-json';
import { ExactNumber, isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { redactedMarks } from '@notebridge/protocol/util/redactor';

/** True if a value is what was recorded. What was redacted stands for any text. */
export function isRecorded(recorded: unknown, found: unknown): boolean {
  return firstDifference(recorded, found) === undefined;
}

export interface Difference {
  /** Where: `arguments.message`. Empty for the whole. */
  path: string;
  recorded: unknown;
  found: unknown;
}

/** The first place in which a value differs from what was recorded. */
export function firstDifference(recorded: unknown, found: unknown, path = ''): Difference | undefined {
  if (isJsonObject(recorded) && isJsonObject(found)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(found)])) {
      const difference = firstDifference(recorded[name], found[name], path === '' ? name : `${path}.${name}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  if (Array.isArray(recorded) && Array.isArray(found) && recorded.length === found.length) {
    for (const [index, item] of recorded.entries()) {
      const difference = firstDifference(item, found[index], `${path}[${index}]`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  return isSameLeaf(recorded, found) ? undefined : { path, recorded, found };
}

/** How many leaves of a value are as recorded: the more, the nearer. */
export function likeness(recorded: unknown, found: unknown): number {
  if (isJsonObject(recorded) && isJsonObject(found))
    return Object.keys(recorded).reduce((sum, name) => sum + likeness(recorded[name], found[name]), 0);
  if (Array.isArray(recorded) && Array.isArray(found))
    return recorded.reduce((sum: number, item, index) => sum + likeness(item, found[index]), 0);
  if (isSameLeaf(recorded, found)) return 1;
  return typeof recorded === 'string' && typeof found === 'string' ? beginsAlike(recorded, found) / 2 : 0;
}

/** The share of two texts that is the same from their beginning. */
function beginsAlike(one: string, other: string): number {
  const longest = Math.max(one.length, other.length, 1);
  let same = 0;
  while (same < longest && one[same] === other[same]) same++;
  return same / longest;
}

/** The params as far as they say what is asked for: without what is another each time. */
export function toAsked(params: JsonObject): JsonObject {
  const { _meta, ...asked } = params;
  // Left out and empty mean the same.
  if (isJsonObject(asked.arguments) && Object.keys(asked.arguments).length === 0) delete asked.arguments;
  return asked;
}

function isSameLeaf(recorded: unknown, found: unknown): boolean {
  if (recorded === found) return true;
  if (typeof recorded === 'string') return typeof found === 'string' && recorded.search(redactedMarks) >= 0 && fits(recorded, found);
  if (isNumber(recorded) && isNumber(found)) return printJson(recorded) === printJson(found) || isSameNumber(recorded, found);
  return false;
}

/** 1 and 1.0 are; two of more digits than a number has may not be. */
function isSameNumber(one: number | ExactNumber, other: number | ExactNumber): boolean {
  return Number(one) === Number(other) && Math.abs(Number(one)) <= Number.MAX_SAFE_INTEGER;
}

export function isNumber(value: unknown): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}

/** Whether a text has the parts between the marks, in their order. */
function fits(recorded: string, found: string): boolean {
  const parts = recorded.split(redactedMarks);
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!found.startsWith(first) || !found.endsWith(last) || found.length < first.length + last.length) return false;
  let at = first.length;
  const end = found.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const next = found.indexOf(part, at);
    if (next < 0 || next + part.length > end) return false;
    at = next + part.length;
  }
  return true;
}
