import { findIn, type SoughtSecret } from './sought-secrets.js';
import { type FoundPart, replaceFound, sifted, tableOf, toView, unescaped, type View } from './text-views.js';

const inBase64 = tableOf(/[\w+/-]/);
const inHex = tableOf(/[\da-f]/i);
/** Of the alphabet of URLs. */
const ofUrls = /[-_]/;
/** A line as `xxd` and `hexdump` write it: where it begins, the bytes, and perhaps these as letters. */
const dumpLine =
  /(?:(?<![\da-f])[\da-f]{4,16}:[ \t]*((?:[\da-f]{1,16} ?)+)|^[ \t]*[\da-f]{4,16}[ \t]+([\da-f]{2,16}(?:[ \t]{1,4}[\da-f]{2,16})*)(?![^\s|])).*$/gim;

/** Bytes that were encoded, and how a part of them is replaced in what encodes them. */
interface Decoded {
  bytes: Buffer;
  toFound: (from: number, to: number, mark: string) => FoundPart;
}

/**
 * The text with a mark in place of each secret that stands in it in Base64, of either alphabet, or in hex, whatever wraps, indents, quotes or
 * escapes that: all that is of neither alphabet is left out, and what remains is decoded from each offset. Linear in the text.
 */
export function hideEncoded(text: string, sought: readonly SoughtSecret[]): string {
  const least = Math.min(...sought.flatMap(({ meanings }) => meanings.map(({ length }) => length)));
  // Most texts of a message are shorter than any secret would be.
  if (text.length < base64Length(least)) return text;
  const source = Buffer.from(text);
  const plain = unescaped(toView(source));
  const found: FoundPart[] = [];
  for (const { bytes, toFound } of [
    ...fromBase64(plain, source, least),
    ...fromHex(withoutPrefixes(plain), least),
    ...fromDump(plain, least),
  ])
    for (const { from, to, secret } of findIn(toView(bytes), sought, true)) found.push(toFound(from, to, secret.mark));
  return found.length === 0 ? text : replaceFound(source, found).toString();
}

/** What is encoded beside the secret can still be read: its own bytes are kept, and the mark fills whole groups of three. */
function* fromBase64(plain: View, source: Buffer, least: number): Iterable<Decoded> {
  const { bytes: packed, range } = sifted(plain, inBase64);
  if (packed.length < base64Length(least)) return;
  for (let offset = 0; offset < 4; offset++) {
    const bytes = Buffer.from(packed.toString('latin1', offset), 'base64');
    yield {
      bytes,
      toFound: (from, to, mark) => {
        const [first, last] = [Math.floor(from / 3), Math.ceil(to / 3)];
        const kept = [bytes.subarray(first * 3, from), Buffer.from(mark), bytes.subarray(to, last * 3)];
        const length = kept.reduce((sum, part) => sum + part.length, 0);
        kept.splice(2, 0, Buffer.alloc((3 - (length % 3)) % 3, ' '));
        const [begin, end] = range(offset + first * 4, Math.min(offset + last * 4, packed.length));
        const encoding = ofUrls.test(source.toString('latin1', begin, end)) ? 'base64url' : 'base64';
        return { from: begin, to: behindPadding(source, end), mark: Buffer.from(Buffer.concat(kept).toString(encoding)) };
      },
    };
  }
}

function base64Length(bytes: number): number {
  return Math.ceil((bytes * 4) / 3);
}

function behindPadding(source: Buffer, end: number): number {
  const length = source[end] !== 0x3d ? 0 : source[end + 1] === 0x3d ? 2 : 1;
  return end + length;
}

function* fromHex(plain: View, least: number): Iterable<Decoded> {
  const { bytes: packed, range } = sifted(plain, inHex);
  if (packed.length < least * 2) return;
  for (let offset = 0; offset < 2; offset++) {
    const toFound = (from: number, to: number, mark: string): FoundPart => {
      const [begin, end] = range(offset + from * 2, offset + to * 2);
      return { from: begin, to: end, mark: Buffer.from(Buffer.from(mark).toString('hex')) };
    };
    yield { bytes: Buffer.from(packed.toString('latin1', offset, packed.length - ((packed.length - offset) % 2)), 'hex'), toFound };
  }
}

/** `0x61, 0x62`: the zeros are no digits. */
function withoutPrefixes(plain: View): View {
  const text = plain.bytes.toString('latin1');
  return text.includes('0x') ? { ...plain, bytes: Buffer.from(text.replaceAll(/(?<![\da-f])0(?=x[\da-f])/gi, ' '), 'latin1') } : plain;
}

/** A secret goes over the ends of its lines, and stands beside them in letters: all of these lines are replaced. */
function* fromDump(plain: View, least: number): Iterable<Decoded> {
  if (plain.bytes.length < least * 2) return;
  const lines = [...plain.bytes.toString('latin1').matchAll(dumpLine)];
  if (lines.length === 0) return;
  const parts = lines.map(({ 1: marked, 2: bare = '' }) => Buffer.from((marked ?? bare).replaceAll(/\s/g, ''), 'hex'));
  const ends: number[] = [];
  let total = 0;
  for (const { length } of parts) {
    total += length;
    ends.push(total);
  }
  const lineOf = (at: number): RegExpExecArray => {
    let [low, high] = [0, ends.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) > at) high = middle;
      else low = middle + 1;
    }
    return lines[low] as RegExpExecArray;
  };
  yield {
    bytes: Buffer.concat(parts),
    toFound: (from, to, mark) => {
      const [first, last] = [lineOf(from), lineOf(to - 1)];
      const [begin, end] = plain.range(first.index, last.index + last[0].length);
      return { from: begin, to: end, mark: Buffer.from(mark) };
    },
  };
}
