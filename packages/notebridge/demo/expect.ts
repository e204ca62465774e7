import { isDeepStrictEqual } from 'node:util';

/** A claim of the demo that did not hold. */
export function mismatch(expected: string, found: unknown): Error {
  return new Error(`expected ${expected}; found ${shorten(found)}`);
}

/** Throws unless the condition holds; `found` is what was there instead. */
export function expectThat(condition: boolean, expected: string, found: unknown): asserts condition {
  if (!condition) throw mismatch(expected, found);
}

/** Throws unless the two are equal in every part. */
export function expectSame(what: string, found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) throw mismatch(`${what} ${shorten(expected)}`, found);
}

const maxLength = 160;

function shorten(value: unknown): string {
  const text = typeof value === 'string' ? `"${value}"` : (JSON.stringify(value) ?? 'nothing');
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
