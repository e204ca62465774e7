const backslash = 0x5c;
const percent = 0x25;
/** After a backslash, what JSON writes for. */
const shortEscapes = new Map(
  [...'n\nr\rt\tb\bf\f'.matchAll(/(.)([^])/g)].map(([, letter = '', meant = '']) => [byte(letter), byte(meant)]),
);
/** A text that says less than this would be found everywhere. Bytes. */
const shortestSecret = 6;

/** Where none of these is, a text has no odd spelling. */
const signs = /[\\%]/;

export function mayHoldOddSpellings(text: string): boolean {
  return signs.test(text);
}

/** What a text says, however JSON (at any depth), URLs and forms have spelled it: two texts that say the same are equal. */
interface Meaning {
  bytes: Buffer;
  /** Where each of these bytes begins in the UTF-8 of the text, and behind the last where the text ends. */
  starts: Uint32Array;
}

/** The meanings to look for: none of a secret that says too little. A letter behind a backslash of its own may be read as an escape, or not. */
export function meaningsOf(secret: string): Buffer[] {
  const texts = new Set([secret, secret.replaceAll('\\', '')]);
  return [...texts].map((text) => read(Buffer.from(text)).bytes).filter(({ length }) => length >= shortestSecret);
}

/** The meaning of a secret, as bytes, and the mark that is put in its place. */
export interface SoughtMeaning {
  bytes: Buffer;
  mark: string;
}

/** The text with a mark in place of each secret, in whatever spelling. `meanings`: of the secrets. Linear in the text. */
export function hideMeanings(text: string, meanings: readonly SoughtMeaning[]): string {
  const source = Buffer.from(text);
  const { bytes, starts } = read(source);
  const found: [from: number, to: number, mark: string][] = [];
  for (const { bytes: meaning, mark } of meanings)
    for (let at = bytes.indexOf(meaning); at >= 0; at = bytes.indexOf(meaning, at + meaning.length))
      found.push([starts[at] ?? 0, starts[at + meaning.length] ?? source.length, mark]);
  if (found.length === 0) return text;
  const pieces: string[] = [];
  let done = 0;
  for (const [from, to, mark] of found.sort(([one], [other]) => one - other)) {
    if (from >= done) pieces.push(source.toString('utf8', done, from), mark);
    done = Math.max(done, to);
  }
  return pieces.join('') + source.toString('utf8', done);
}

/** Backslashes mean nothing by themselves, a number or a letter behind them means its character, and `+` a space. */
function read(source: Buffer): Meaning {
  const bytes = Buffer.allocUnsafe(source.length);
  const starts = new Uint32Array(source.length + 1);
  let [at, length] = [0, 0];
  const put = (value: number, from: number): void => {
    if (value === backslash) return;
    starts[length] = from;
    bytes[length++] = value === 0x2b ? 0x20 : value;
  };
  while (at < source.length) {
    const from = at;
    while (source[at] === backslash) at++;
    const isEscaped = at > from;
    const value = source[at++];
    if (value === undefined) break;
    const unit = isEscaped && value === 0x75 ? hexAt(source, at, 4) : undefined;
    if (unit !== undefined) {
      at += 4;
      const low = isHigh(unit) ? lowAt(source, at) : undefined;
      if (low !== undefined) at = low.end;
      const character = low === undefined ? String.fromCharCode(unit) : String.fromCharCode(unit, low.unit);
      for (const each of Buffer.from(character)) put(each, from);
    } else if (value === percent) {
      const decoded = percentAt(source, at);
      at = decoded?.end ?? at;
      put(decoded?.value ?? value, from);
    } else put((isEscaped ? shortEscapes.get(value) : undefined) ?? value, from);
  }
  starts[length] = source.length;
  return { bytes: bytes.subarray(0, length), starts };
}

/** Behind a percent sign: the byte that is meant, also of a URL in a URL (`%252F`). */
function percentAt(source: Buffer, at: number): { value: number; end: number } | undefined {
  let end = at;
  while (source[end] === 0x32 && source[end + 1] === 0x35 && hexAt(source, end + 2, 2) !== undefined) end += 2;
  const value = hexAt(source, end, 2);
  return value === undefined ? undefined : { value, end: end + 2 };
}

/** The second half of a surrogate pair, written by its number too. */
function lowAt(source: Buffer, at: number): { unit: number; end: number } | undefined {
  let end = at;
  while (source[end] === backslash) end++;
  const unit = end > at && source[end] === 0x75 ? hexAt(source, end + 1, 4) : undefined;
  return unit === undefined || unit < 0xdc00 || unit > 0xdfff ? undefined : { unit, end: end + 5 };
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function hexAt(source: Buffer, at: number, digits: number): number | undefined {
  let value = 0;
  for (let index = at; index < at + digits; index++) {
    const digit = digitOf(source[index] ?? 0);
    if (digit < 0) return undefined;
    value = value * 16 + digit;
  }
  return value;
}

function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function byte(character: string): number {
  return character.charCodeAt(0);
}
