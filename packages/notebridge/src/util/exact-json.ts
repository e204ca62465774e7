/**
 * JSON that survives a round trip to the letter of its numbers. `JSON.parse` turns 12345678901234567890 into another number,
 * 1.0 into 1 and 1e400 into Infinity (printed as null); a bridge that does so corrupts what a Python peer sent. Numbers that
 * a JavaScript number cannot print back are kept as `ExactNumber`. Texts without such a number (nearly all) take the
 * engine's own fast path, at the price of one regular expression.
 */

/** A number kept as its source text. Arithmetic sees the nearest double; printing gives the source back. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  valueOf(): number {
    return Number(this.source);
  }

  toString(): string {
    return this.source;
  }

  toJSON(): string {
    exactNumbersPrinted++;
    return `${marker}${this.source}`;
  }
}

// A value that may print differently: 16 digits or more, an exponent, a fraction ending in 0 or very long, minus zero.
const suspicious = /(?:^|[[:,\s])(?:-?(?:\d[\d.]{15}|\d+\.\d*0(?:$|[\s,\]}])|\d+(?:\.\d+)?[eE])|-0(?:$|[\s,\]}]))/;
const numberPattern = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
// Unguessable, so that a string of a peer can never be taken for an exact number.
const marker = `\u0000${crypto.randomUUID()}:`;
const markedNumber = new RegExp(`"${JSON.stringify(marker).slice(1, -1).replaceAll('\\', '\\\\')}([-+.\\deE]+)"`, 'g');
let exactNumbersPrinted = 0;

/** Parses JSON text. Throws SyntaxError where `JSON.parse` does, RangeError for nesting deeper than the stack. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return suspicious.test(text) ? readExactly(text) : value;
}

/** Prints a value as JSON, exact numbers as they came. Throws RangeError for nesting deeper than the stack. */
export function printJson(value: unknown): string {
  const before = exactNumbersPrinted;
  const text = JSON.stringify(value);
  return exactNumbersPrinted === before ? text : text.replace(markedNumber, '$1');
}

/** True if the text is what JavaScript prints for the number it reads there. */
function isExact(source: string): boolean {
  return String(Number(source)) === source;
}

/** Reads a text that `JSON.parse` has accepted, so only structure is followed. Of equal keys the last one counts, as there. */
function readExactly(text: string): unknown {
  let at = 0;

  const next = (): string | undefined => {
    while (text.charCodeAt(at) <= 0x20) at++;
    return text[at];
  };
  const readString = (): string => {
    const start = at++;
    let escaped = false;
    for (; text.charCodeAt(at) !== 0x22; at++) {
      if (text.charCodeAt(at) !== 0x5c) continue;
      escaped = true;
      at++;
    }
    at++;
    return escaped ? JSON.parse(text.slice(start, at)) : text.slice(start + 1, at - 1);
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
      // Not an assignment: a key `__proto__` must become an own member.
      Object.defineProperty(members, key, { value: readValue(), writable: true, enumerable: true, configurable: true });
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
