import { ExactNumber } from '@notebridge/kit/json';

/**
 * True if the text is the value as JSON, whatever its white space, with members in the same order. Compared in one pass over the
 * text that stops at the first difference, since both may be large; a text that escapes more than needed counts as different.
 */
export function isPrintedIn(text: string, value: unknown): boolean {
  try {
    return skipSpace(text, match(text, 0, value)) === text.length;
  } catch (error) {
    // Nested more deeply than the stack.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Where nothing can follow: makes every further comparison fail. */
const nowhere = Number.POSITIVE_INFINITY;

/** The place behind the value, or `nowhere`. */
function match(text: string, from: number, value: unknown): number {
  const at = skipSpace(text, from);
  if (Array.isArray(value)) return matchList(text, at, value, match, '[]');
  if (typeof value === 'object' && value !== null && !(value instanceof ExactNumber))
    return matchList(text, at, Object.entries(value), matchMember, '{}');
  return expect(text, at, value instanceof ExactNumber ? value.source : (JSON.stringify(value) ?? 'null'));
}

function matchMember(text: string, from: number, [key, value]: [string, unknown]): number {
  const behindKey = expect(text, skipSpace(text, from), JSON.stringify(key));
  return match(text, expect(text, skipSpace(text, behindKey), ':'), value);
}

function matchList<Item>(text: string, from: number, items: readonly Item[], matchItem: MatchItem<Item>, brackets: '[]' | '{}'): number {
  let at = expect(text, from, brackets.charAt(0));
  for (let index = 0; index < items.length && at !== nowhere; index++) {
    if (index > 0) at = expect(text, skipSpace(text, at), ',');
    at = matchItem(text, at, items[index] as Item);
  }
  return expect(text, skipSpace(text, at), brackets.charAt(1));
}

type MatchItem<Item> = (text: string, from: number, item: Item) => number;

function expect(text: string, at: number, wanted: string): number {
  return text.startsWith(wanted, at) && at !== nowhere ? at + wanted.length : nowhere;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}
