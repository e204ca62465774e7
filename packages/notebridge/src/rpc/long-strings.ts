/**
 * Strings of megabytes that go through us unread. Where a message is parsed, such a string becomes a property that decodes it at
 * its first use: to every reader it is an ordinary string. Code that prints a message into bytes can use the token of the wire instead,
 * which is neither decoded nor printed anew.
 */

import type { Printed } from '../core/wire.js';
import { setUnread, type Unread, unreadOf } from './unread-members.js';

/** A string as it stood in a message: its token, quotes included. The token is valid JSON and valid UTF-8. */
export class LongString implements Unread {
  readonly token: Buffer;
  #text: string | undefined;

  constructor(token: Buffer) {
    this.token = token;
  }

  read(): string {
    return met === undefined ? this.text : `${marker}${met.push(this) - 1}`;
  }

  /** The string itself, decoded at the first use. */
  get text(): string {
    if (this.#text === undefined) {
      const text = this.token.toString('utf8');
      this.#text = this.token.includes(backslash) ? (JSON.parse(text) as string) : text.slice(1, -1);
    }
    return this.#text;
  }
}

/** Joins strings. A long one among them makes a long one, and stays undecoded. */
export function joinStrings(strings: readonly (string | LongString)[], separator: string): string | LongString {
  if (!strings.some((string) => string instanceof LongString)) return strings.join(separator);
  const [first] = strings;
  if (strings.length === 1 && first !== undefined) return first;
  const tokens = strings.map((string) => (typeof string === 'string' ? Buffer.from(JSON.stringify(string)) : string.token));
  const between = Buffer.from(JSON.stringify(separator).slice(1, -1));
  const pieces = tokens.flatMap((token, index) => [index === 0 ? quote : between, token.subarray(1, -1)]);
  return new LongString(Buffer.concat([...pieces, quote]));
}

const quote = Buffer.from('"');
const backslash = 0x5c;

/** Unguessable, so that a string of a peer can never be taken for a placeholder. */
const marker = `\u0000${crypto.randomUUID()}:`;
const printedMarker = JSON.stringify(marker).slice(1, -1);
const printedPlaceholder = new RegExp(`"${printedMarker.replaceAll('\\', '\\\\')}(\\d+)"`);

/** The long strings read while something is printed, one for each reading; undefined while nothing is. */
let met: LongString[] | undefined;

/** Makes an own property that reads, is listed, written and removed like any other. */
export function setLongString(holder: object, key: string, string: LongString): void {
  setUnread(holder, key, string);
}

/** The long string of a property, without decoding it; undefined for anything else. */
export function longStringOf(holder: object, key: string): LongString | undefined {
  const unread = unreadOf(holder, key);
  return unread instanceof LongString ? unread : undefined;
}

/**
 * What `print` prints, with the tokens of long strings in their places. `print` must print JSON, each string that it
 * reads from a message once and whole.
 */
export function printWithTokens(print: () => string): Printed {
  const outer = met;
  const strings: LongString[] = [];
  met = strings;
  let text: string;
  try {
    text = print();
  } finally {
    met = outer;
  }
  if (strings.length === 0) return text;
  // Odd places hold the numbers of placeholders.
  const parts = text.split(printedPlaceholder);
  if (isFaithful(parts, strings.length)) return parts.map((part, index) => (index % 2 === 0 ? Buffer.from(part) : tokenOf(strings, part)));
  // Somebody's own `toJSON` has looked into a placeholder.
  met = undefined;
  try {
    return print();
  } finally {
    met = outer;
  }
}

/** A placeholder as it stands in JSON, for the parser: it is parsed into what `placeholderIndex` knows. */
export function printPlaceholder(index: number): string {
  return `"${printedMarker}${index}"`;
}

/** The number of a placeholder; undefined for any other string. */
export function placeholderIndex(text: string): number | undefined {
  return text.startsWith(marker) ? Number(text.slice(marker.length)) : undefined;
}

/** True if the text has a placeholder for each reading, and none in part or inside another string. */
function isFaithful(parts: readonly string[], readings: number): boolean {
  return parts.length === 2 * readings + 1 && !parts.some((part, index) => index % 2 === 0 && part.includes(printedMarker));
}

function tokenOf(strings: readonly LongString[], index: string): Buffer {
  return (strings[Number(index)] as LongString).token;
}
