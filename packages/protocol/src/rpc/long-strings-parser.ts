import { isUtf8 } from 'node:buffer';
import { parseMessage } from '../core/wire.js';
import { LongString, placeholderIndex, printPlaceholder, setUnread } from './unread-members.js';

/** Lines shorter than this are not worth the search. Bytes. */
export const longLineBytes = 256 * 1024;

/** A string token is long from here on. Bytes. */
const longTokenBytes = 64 * 1024;
/** With more than this beside its long strings a message is not one that only passes through. */
const maxShortTokens = 4096;
const maxRestBytes = 1024 * 1024;

/** Where a long token stands in a line. */
interface Token {
  start: number;
  end: number;
}

/**
 * Parses a line of which long strings stay undecoded until they are read (see `long-strings.ts`); they keep the line's memory.
 * Undefined if the usual parser is to take it: it has no long string, or too much beside them, or a fault, which is reported there.
 */
export function parseWithLongStrings(line: Buffer): unknown {
  const tokens = findLongTokens(line);
  if (tokens === undefined || tokens.length === 0) return undefined;
  let value: unknown;
  try {
    value = parseMessage(toSkeleton(line, tokens).trim());
  } catch {
    return undefined;
  }
  const strings = tokens.map(({ start, end }) => new LongString(line.subarray(start, end)));
  return typeof value === 'string' ? replaceString(value, strings) : replaceMembers(value, strings);
}

/** The long tokens that stand for values, or undefined if the line is to be parsed as usual. */
function findLongTokens(line: Buffer): Token[] | undefined {
  const scan = createScan(line);
  const tokens: Token[] = [];
  let shortTokens = 0;
  let rest = line.length;
  for (let start = line.indexOf(quote); start >= 0; ) {
    const end = scan(start + 1);
    if (end < 0) return undefined;
    if (end - start >= longTokenBytes && !isKey(line, end)) {
      tokens.push({ start, end });
      rest -= end - start;
    } else if (++shortTokens > maxShortTokens) return undefined;
    start = line.indexOf(quote, end);
  }
  return rest <= maxRestBytes && isUtf8(line) ? tokens : undefined;
}

/** Looks through the string whose first byte is at `from`. Gives the place behind its quote, or -1 if a parser would not take it. */
type Scan = (from: number) => number;

/** A scan that looks at four bytes at once, and one by one at those that mean something. */
function createScan(unaligned: Buffer): Scan {
  if (!isLittleEndian) return () => -1;
  const line = unaligned.byteOffset % 4 === 0 ? unaligned : Buffer.from(unaligned);
  const words = new Int32Array(line.buffer, line.byteOffset, line.length >> 2);
  return (from) => {
    for (let at = from; ; ) {
      let index = at >> 2;
      if (index < words.length) {
        let marks = marksIn(words[index] as number) & (-1 << ((at & 3) << 3));
        while (marks === 0 && ++index < words.length) marks = marksIn(words[index] as number);
        // The lowest mark is the first byte.
        at = index < words.length ? (index << 2) + ((31 - Math.clz32(marks & -marks)) >> 3) : index << 2;
      }
      if (at >= line.length) return -1;
      switch (kinds[line[at] as number]) {
        case ordinary:
          at++;
          break;
        case quote:
          return at + 1;
        case backslash:
          if (!isEscape(line, at + 1)) return -1;
          at += 2;
          break;
        default:
          return -1;
      }
    }
  };
}

/**
 * Marks each byte of four that is a quote, a backslash or a control character, by its highest bit. A byte above a marked one may be
 * marked for nothing.
 */
function marksIn(word: number): number {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const controls = (word - 0x20202020) & ~word;
  return (controls | ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes)) & 0x80808080;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const ordinary = 0;
const control = 1;
/** What each byte is in a string: one of the four above. */
const kinds = new Uint8Array(256).fill(control, 0, 0x20);
kinds[quote] = quote;
kinds[backslash] = backslash;
const escapes = new Uint8Array(256);
for (const letter of Buffer.from('"\\/bfnrt')) escapes[letter] = 1;
const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** True if what follows a backslash is an escape. */
function isEscape(line: Buffer, at: number): boolean {
  return escapes[line[at] ?? 0] === 1 || (line[at] === 0x75 && /^[0-9a-fA-F]{4}$/.test(line.toString('latin1', at + 1, at + 5)));
}

/** True if a colon follows: the token is the key of a member. */
function isKey(line: Buffer, end: number): boolean {
  let at = end;
  while ((line[at] ?? colon) <= 0x20) at++;
  return line[at] === colon;
}

/** The line with placeholders for its long tokens. */
function toSkeleton(line: Buffer, tokens: readonly Token[]): string {
  let skeleton = '';
  let from = 0;
  tokens.forEach(({ start, end }, index) => {
    skeleton += line.toString('utf8', from, start) + printPlaceholder(index);
    from = end;
  });
  return skeleton + line.toString('utf8', from);
}

function replaceString(value: string, strings: readonly LongString[]): string {
  const index = placeholderIndex(value);
  return (index === undefined ? undefined : strings[index])?.text ?? value;
}

/** Puts the long strings where their placeholders stand; in lists decoded at once. A loop, since messages may be nested deeply. */
function replaceMembers(root: unknown, strings: readonly LongString[]): unknown {
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const holder = waiting.pop();
    if (typeof holder !== 'object' || holder === null) continue;
    if (Array.isArray(holder)) {
      for (let index = 0; index < holder.length; index++) {
        const item: unknown = holder[index];
        if (typeof item === 'string') holder[index] = replaceString(item, strings);
        else waiting.push(item);
      }
      continue;
    }
    for (const [key, member] of Object.entries(holder)) {
      if (typeof member !== 'string') waiting.push(member);
      else {
        const index = placeholderIndex(member);
        const string = index === undefined ? undefined : strings[index];
        if (string !== undefined) setUnread(holder, key, string);
      }
    }
  }
  return root;
}
