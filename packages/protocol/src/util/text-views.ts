/** Bytes that a text says in some spelling. */
export interface View {
  bytes: Buffer;
  /** Where these of its bytes stand in the text's own. */
  range: (from: number, to: number) => readonly [number, number];
}

/** Something to put in the place of a part of a text. */
export interface FoundPart {
  from: number;
  to: number;
  mark: Buffer;
}

export function toView(bytes: Buffer): View {
  return { bytes, range: (from, to) => [from, to] };
}

/** The bytes with a mark in place of each part that was found; of two that overlap the first counts. */
export function replaceFound(source: Buffer, found: readonly FoundPart[]): Buffer {
  const pieces: Buffer[] = [];
  let done = 0;
  for (const { from, to, mark } of [...found].sort((one, other) => one.from - other.from)) {
    if (from >= done) pieces.push(source.subarray(done, from), mark);
    done = Math.max(done, to);
  }
  return Buffer.concat([...pieces, source.subarray(done)]);
}

const [backslash, percent, space] = [0x5c, 0x25, 0x20];
/** After a backslash, what JSON writes for. */
const shortEscapes = new Map(
  [...'n\nr\rt\tb\bf\f'.matchAll(/(.)([^])/g)].map(([, letter = '', meant = '']) => [byteOf(letter), byteOf(meant)]),
);

/** What JSON (at any depth) and URLs have escaped. Backslashes mean nothing by themselves, a number or a letter behind them means its character. */
export function unescaped(view: View): View {
  const source = view.bytes;
  if (!source.includes(backslash) && !source.includes(percent)) return view;
  const bytes = Buffer.allocUnsafe(source.length);
  const starts = new Uint32Array(source.length + 1);
  let [at, length] = [0, 0];
  while (at < source.length) {
    const from = at;
    while (source[at] === backslash) at++;
    const isEscaped = at > from;
    let value = source[at++];
    if (value === undefined) break;
    const unit = isEscaped && value === 0x75 ? hexAt(source, at, 4) : undefined;
    if (unit !== undefined) {
      at += 4;
      const low = isHigh(unit) ? lowAt(source, at) : undefined;
      if (low !== undefined) at = low.end;
      for (const each of Buffer.from(low === undefined ? String.fromCharCode(unit) : String.fromCharCode(unit, low.unit))) {
        if (each === backslash) continue;
        starts[length] = from;
        bytes[length++] = each;
      }
      continue;
    }
    if (value === percent) {
      const decoded = percentAt(source, at);
      at = decoded?.end ?? at;
      value = decoded?.value ?? value;
    } else if (isEscaped) value = shortEscapes.get(value) ?? value;
    if (value === backslash) continue;
    starts[length] = from;
    bytes[length++] = value;
  }
  starts[length] = source.length;
  return { bytes: bytes.subarray(0, length), range: (from, to) => view.range(starts[from] ?? 0, starts[to] ?? source.length) };
}

/** Each run of white space as one space, and so a `+`, which forms write for one: lines that were wrapped or indented otherwise are the same. */
export function folded(view: View): View {
  const blanks = new Uint8Array(256);
  for (const blank of ' \t\r\n+') blanks[byteOf(blank)] = 1;
  const source = view.bytes;
  const bytes = Buffer.allocUnsafe(source.length);
  const starts = new Uint32Array(source.length + 1);
  let length = 0;
  for (let at = 0; at < source.length; at++) {
    const value = source[at] as number;
    const isBlank = blanks[value] === 1;
    if (isBlank && length > 0 && bytes[length - 1] === space) continue;
    starts[length] = at;
    bytes[length++] = isBlank ? space : value;
  }
  starts[length] = source.length;
  return { bytes: bytes.subarray(0, length), range: (from, to) => view.range(starts[from] ?? 0, starts[to] ?? source.length) };
}

/** Only the bytes for which the table has 1: whatever stands between them means nothing. */
export function sifted(view: View, isKept: Uint8Array): View {
  const source = view.bytes;
  const bytes = Buffer.allocUnsafe(source.length);
  const places = new Uint32Array(source.length);
  let length = 0;
  for (let at = 0; at < source.length; at++) {
    const value = source[at] as number;
    if (isKept[value] !== 1) continue;
    places[length] = at;
    bytes[length++] = value;
  }
  return { bytes: bytes.subarray(0, length), range: (from, to) => view.range(places[from] ?? 0, (places[to - 1] ?? -1) + 1) };
}

/** A table for `sifted`. */
export function tableOf(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));
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

function byteOf(character: string): number {
  return character.charCodeAt(0);
}
