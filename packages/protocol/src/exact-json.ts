/**
 * JSON whose numbers keep their digits in a round trip. `JSON.parse` turns 12345678901234567890 into another number,
 * 1.0 into 1 and 1e400 into Infinity (printed as null); a bridge that does so corrupts what a Python peer sent. Numbers that
 * a JavaScript number cannot print back are kept as `ExactNumber`. Texts without such a number (nearly all) take the
 * engine's own fast path, at the price of one scan of the text.
 */
import { ExactNumber, exactPrinting, setMember } from './json.js';

const numberPattern = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
// Unguessable, so that a string of a peer can never be taken for an exact number.
const marker = `\u0000${crypto.randomUUID()}:`;
const markedNumber = new RegExp(`"${JSON.stringify(marker).slice(1, -1).replaceAll('\\', '\\\\')}([-+.\\deE]+)"`, 'g');
let exactNumbersPrinted = 0;

function placeholderOf(source: string): string {
  exactNumbersPrinted++;
  return `${marker}${source}`;
}

/** Parses JSON text. Throws SyntaxError where `JSON.parse` does, RangeError for nesting deeper than the stack. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasOddNumber(text) ? readExactly(text) : value;
}

/** Prints a value as JSON, exact numbers as they came. Throws RangeError for nesting deeper than the stack. */
export function printJson(value: unknown): string {
  const before = exactNumbersPrinted;
  exactPrinting.placeholderOf = placeholderOf;
  try {
    const text = JSON.stringify(value);
    return exactNumbersPrinted === before ? text : text.replace(markedNumber, '$1');
  } finally {
    exactPrinting.placeholderOf = undefined;
  }
}

/**
 * The value with plain numbers in place of exact ones, for code of this process that asks `typeof`. The same value, uncopied,
 * if it has none. Throws RangeError for nesting deeper than the stack.
 */
export function toPlainNumbers(value: unknown): unknown {
  return replaceLeaves(value, (leaf) => (leaf instanceof ExactNumber ? leaf.valueOf() : leaf));
}

/** For a parser of others between two of ours: exact numbers become texts that no peer can guess. The same value, uncopied, if it has none. */
export function toMarkedNumbers(value: unknown): unknown {
  return replaceLeaves(value, (leaf) => (leaf instanceof ExactNumber ? marker + leaf.source : leaf));
}

/** The exact numbers again. The same value, uncopied, if none is marked. */
export function fromMarkedNumbers(value: unknown): unknown {
  const isMarked = (leaf: unknown): leaf is string => typeof leaf === 'string' && leaf.startsWith(marker);
  return replaceLeaves(value, (leaf) => (isMarked(leaf) ? new ExactNumber(leaf.slice(marker.length)) : leaf));
}

/** A JSON text with marked numbers as they are written. */
export function unmarkJson(text: string): string {
  return text.replace(markedNumber, '$1');
}

function replaceLeaves(value: unknown, replace: (leaf: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return replace(value);
  const members = value as Record<string, unknown>;
  let copy: object | undefined;
  for (const key of Object.keys(members)) {
    const other = replaceLeaves(members[key], replace);
    if (other === members[key]) continue;
    copy ??= Array.isArray(value) ? [...value] : { ...value };
    setMember(copy, key, other);
  }
  return copy ?? value;
}

/** True if the text is what JavaScript prints for the number it reads there. */
function isExact(source: string): boolean {
  return String(Number(source)) === source;
}

/** True if an odd number of backslashes stands before the character. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === 0x5c) before--;
  return (at - before) % 2 === 1;
}

/** Reads a text that `JSON.parse` has accepted, so only structure is followed. Of equal keys the last one counts, as there. */
function readExactly(text: string): unknown {
  let at = 0;

  const next = (): string | undefined => {
    while (text.charCodeAt(at) <= 0x20) at++;
    return text[at];
  };
  const readString = (): string => {
    const start = at;
    do at = text.indexOf('"', at + 1);
    while (isEscaped(text, at));
    const source = text.slice(start, ++at);
    return source.includes('\\') ? JSON.parse(source) : source.slice(1, -1);
  };
  const readNumber = (): unknown => {
    numberPattern.lastIndex = at;
    const source = numberPattern.exec(text)?.[0] ?? '';
    at += source.length;
    return isExact(source) ? Number(source) : new ExactNumber(source);
  };
  const readArray = (): unknown[] => {
    const items: unknown[] = [];
    at++;
    while (next() !== ']') {
      if (text[at] === ',') at++;
      items.push(readValue());
    }
    at++;
    return items;
  };
  const readObject = (): object => {
    const members = {};
    at++;
    while (next() !== '}') {
      if (text[at] === ',') at++;
      next();
      const key = readString();
      next();
      at++; // the colon
      setMember(members, key, readValue());
    }
    at++;
    return members;
  };
  const readWord = (length: number, value: unknown): unknown => {
    at += length;
    return value;
  };
  const readValue = (): unknown => {
    switch (next()) {
      case '{':
        return readObject();
      case '[':
        return readArray();
      case '"':
        return readString();
      case 't':
        return readWord(4, true);
      case 'f':
        return readWord(5, false);
      case 'n':
        return readWord(4, null);
      default:
        return readNumber();
    }
  };

  return readValue();
}

/**
 * True if a JSON text has a number, outside its strings, that JavaScript may print back differently: a long one that it does print
 * differently, an exponent, a fraction that is tiny or ends in 0, minus zero. The text must be valid JSON. One pass over what is outside
 * strings; strings are jumped over, since the large ones (images, output) are one string each.
 */
export function hasOddNumber(text: string): boolean {
  return needsSlowPath(text, Number.POSITIVE_INFINITY);
}

/** True if it has an odd number, or is nested deeper than so many levels. */
export function needsSlowPath(text: string, maxDepth: number): boolean {
  const { length } = text;
  let depth = 0;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at + 1);
    else if (code === openBrace || code === openBracket) {
      if (++depth > maxDepth) return true;
    } else if (code === openBrace + 2 || code === openBracket + 2) depth--;
    else if (code === minus || (code >= zero && code <= nine)) {
      const end = endOfNumber(text, at);
      if (isOdd(text, at, end)) return true;
      at = end - 1;
    }
  }
  return false;
}

const quote = 0x22;
const minus = 0x2d;
const backslash = 0x5c;
const zero = 0x30;
const nine = 0x39;
// Their partners follow two places behind.
const openBrace = 0x7b;
const openBracket = 0x5b;

function endOfNumber(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const code = text.charCodeAt(at);
    // Digits, and . + - e E
    if ((code >= zero && code <= nine) || code === 0x2e || code === 0x2b || code === minus || code === 0x65 || code === 0x45) continue;
    return at;
  }
}

function isOdd(text: string, start: number, end: number): boolean {
  const size = end - start;
  // The usual number: a few digits.
  if (size === 1) return false;
  const number = text.slice(start, end);
  // Fractions with all their digits are usual, and mostly what JavaScript prints too.
  if (size > 15) return String(Number(number)) !== number;
  return number === '-0' || /[eE]|\.\d*0$|^-?0\.000000/.test(number);
}

/** Where the string ends whose first character is at `from`. Short ones are walked, long ones are searched for their quote. */
function endOfString(text: string, from: number): number {
  let at = from;
  for (;;) {
    for (const near = at + 48; at < near; at++) {
      const code = text.charCodeAt(at);
      if (code === quote) return at;
      if (code === backslash) at++;
    }
    // Here `at` may stand behind an escape, never inside one, so the backslashes before a quote show whether it is escaped.
    const found = text.indexOf('"', at);
    let back = found;
    while (back > at && text.charCodeAt(back - 1) === backslash) back--;
    if ((found - back) % 2 === 0) return found;
    at = found + 1;
  }
}
