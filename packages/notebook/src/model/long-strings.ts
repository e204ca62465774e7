import { ByteWriter } from './byte-writer.js';
import { endOfString, skipSpace } from './json-spans.js';

/** The bytes of a JSON text, with a mark in each string whose content was taken out. */
export interface ThinText {
  readonly bytes: Uint8Array;
  /** By the number that the mark has. */
  readonly strings: readonly string[];
}

/** Begins the mark: unescaped no string of JSON holds it. */
const mark = 0x01;
const markCharacter = '\u0001';
const [quote, colon] = [0x22, 0x3a];
const minBytes = 4096;
const decoder = new TextDecoder();

/**
 * Takes out pictures, and whatever else is long and base64: nearly all of a large notebook. What is read from the rest (`takenStringOf`) and
 * the text to write it again share those strings, so that they are in memory once.
 */
export function takeOutLongStrings(bytes: Uint8Array): ThinText {
  const strings: string[] = [];
  const writer = new ByteWriter(bytes);
  let copied = 0;
  if (bytes.includes(mark)) return { bytes, strings };
  for (let start = bytes.indexOf(quote); start !== -1; ) {
    const end = endOfString(bytes, start);
    // This is no JSON.
    if (end === 0) break;
    const isLong = end - start > minBytes && bytes[skipSpace(bytes, end)] !== colon;
    const text = isLong ? base64In(bytes.subarray(start + 1, end - 1)) : undefined;
    if (text !== undefined) {
      writer.copy(copied, start + 1);
      writer.text(markCharacter + strings.length);
      strings.push(text);
      copied = end - 1;
    }
    start = bytes.indexOf(quote, end);
  }
  writer.copy(copied, bytes.length);
  return { bytes: writer.finish(), strings };
}

/** The whole text again, or the whole of another one with the same marks. */
export function putBackLongStrings({ bytes, strings }: ThinText): Uint8Array {
  if (strings.length === 0) return bytes;
  const writer = new ByteWriter(bytes);
  let copied = 0;
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, copied)) {
    const end = bytes.indexOf(quote, at);
    writer.copy(copied, at);
    writer.text((takenStringOf(decoder.decode(bytes.subarray(at, end)), strings) ?? '').replaceAll('\n', '\\n'));
    copied = end;
  }
  writer.copy(copied, bytes.length);
  return writer.finish();
}

/** The string whose mark this is; undefined for any other text. */
export function takenStringOf(held: string, strings: readonly string[]): string | undefined {
  return held.startsWith(markCharacter) ? strings[Number(held.slice(1))] : undefined;
}

/** Of a text that has base64 in lines and nothing else, and so is spelled in one way, what it says. */
function base64In(bytes: Uint8Array): string | undefined {
  const spelled = decoder.decode(bytes);
  if (/[^A-Za-z0-9+/=\\]/.test(spelled)) return undefined;
  const text = spelled.replaceAll('\\n', '\n');
  return text.includes('\\') ? undefined : text;
}
