import { inspect } from 'node:util';
import type { Printed } from '../core/wire.js';
import type { JsonObject } from '../json.js';

/** Stands in for a member until it is read. */
export interface Unread {
  /** Gives the member, each time. */
  read(): unknown;
}

interface Holder {
  readonly [unreadMembers]?: Map<string, Unread>;
  readonly [rawResult]?: RawResult;
}

/** Hidden, so that no copy of a holder takes them along; a property, so that a proxy of it finds them. */
const unreadMembers = Symbol('unread members');

/** Makes a member that is read, listed, written and removed like any other. */
export function setUnread(holder: object, key: string, unread: Unread): void {
  const unreads = Object.hasOwn(holder, unreadMembers) ? (holder as Holder)[unreadMembers] : hold(holder);
  unreads?.set(key, unread);
  Object.defineProperty(holder, key, accessorOf(key));
}

/** True if a member may be unread. False for nearly all objects. */
export function hasUnread(holder: object): boolean {
  return unreadMembers in holder;
}

/** What still stands in the place of a member; undefined for any other member. */
function unreadOf(holder: Holder, key: string): Unread | undefined {
  // Cheap for the many objects that hold none.
  if (!(unreadMembers in holder)) return undefined;
  const get = Object.getOwnPropertyDescriptor(holder, key)?.get;
  return get !== undefined && getters.has(get) ? holder[unreadMembers]?.get(key) : undefined;
}

function hold(holder: object): Map<string, Unread> {
  const unreads = new Map<string, Unread>();
  Object.defineProperty(holder, unreadMembers, { value: unreads });
  // Who prints the holder for a person sees its members.
  Object.defineProperty(holder, inspect.custom, seesMembers);
  return unreads;
}

const seesMembers: PropertyDescriptor = {
  value(this: object) {
    return { ...this };
  },
  configurable: true,
};

/** Names of members come from outside. */
const maxAccessors = 256;
const accessors = new Map<string, PropertyDescriptor>();
const getters = new WeakSet<() => unknown>();

/** One accessor for all members of a name: the engine keeps each until its next full collection, and with it all that it holds. */
function accessorOf(key: string): PropertyDescriptor {
  const known = accessors.get(key);
  if (known !== undefined) return known;
  const accessor = createAccessor(key);
  getters.add(accessor.get);
  if (accessors.size < maxAccessors) accessors.set(key, accessor);
  return accessor;
}

function createAccessor(key: string) {
  return {
    get(this: Holder): unknown {
      return this[unreadMembers]?.get(key)?.read();
    },
    set(this: object, value: unknown): void {
      Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
    },
    enumerable: true,
    configurable: true,
  };
}

/** More members than any result has; comparing them all must stay cheaper than printing. */
const maxMembers = 32;

/**
 * The JSON text that a result came in, kept beside the result so that passing it on costs no printing. The text stands for the result
 * only while nobody can have changed anything in it. So whoever reads a member that could be changed in place ends that, and who
 * prints compares the others: layers between need not know that there is a text.
 */
interface RawResult {
  text: string | undefined;
  readonly members: readonly [string, unknown][];
}

/** Hidden, so that no copy of the result (a spread, a clone) takes it along. */
const rawResult = Symbol('raw result');

/** Keeps the text of a value that has just been parsed from it. Once per value. */
export function keepRawText(value: JsonObject, text: string): void {
  const members = Object.entries(value);
  if (members.length > maxMembers) return;
  const kept: RawResult = { text, members };
  for (const [key, member] of members) {
    if (!isChangeable(member)) continue;
    const read = (): object => {
      kept.text = undefined;
      return member;
    };
    setUnread(value, key, { read });
  }
  Object.defineProperty(value, rawResult, { value: kept });
}

/** The text that stands for the value; undefined if none was kept, or it may be another value by now. */
export function rawTextOf(value: Holder & object): string | undefined {
  const kept = Object.hasOwn(value, rawResult) ? value[rawResult] : undefined;
  return kept?.text !== undefined && hasMembers(value as JsonObject, kept.members) ? kept.text : undefined;
}

/** True if it prints these members, and nothing else; those that could be changed in place are not read. */
function hasMembers(value: JsonObject, members: RawResult['members']): boolean {
  const keys = Object.keys(value);
  if (keys.length !== members.length || 'toJSON' in value) return false;
  return members.every(
    ([key, member], at) => key === keys[at] && (isChangeable(member) ? unreadOf(value, key) !== undefined : value[key] === member),
  );
}

function isChangeable(member: unknown): member is object {
  return typeof member === 'object' && member !== null;
}

/**
 * A string of megabytes as it stood in a message: its token, quotes included, which is valid JSON and valid UTF-8. As an unread member it is
 * decoded at its first use: to every reader it is an ordinary string. Code that prints a message into bytes can use the token instead, which
 * is neither decoded nor printed anew.
 */
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
