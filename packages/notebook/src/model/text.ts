// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters at which Python's `str.splitlines` breaks.
const lineBreak = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;

/** A text as nbformat keeps it on disk: a list of lines as Python sees them, each with its line break but perhaps the last. */
export function toLines(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  for (const { index, 0: end } of text.matchAll(lineBreak)) {
    lines.push(text.slice(start, index + end.length));
    start = index + end.length;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

/** A text of nbformat, which may be a list of lines, as one string. */
export function toText(text: string | readonly string[]): string {
  return typeof text === 'string' ? text : text.join('');
}

const encoder = new TextEncoder();

/** The bytes that a text takes in a file. Counted here: for the short texts that code prints, an encoder takes several times as long. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    // Each half of a pair counts two of its four bytes.
    bytes += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

/** The longest beginning of a text that takes at most `maxBytes`; no character is cut in two. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(Math.max(0, maxBytes))).read);
}

/** How many characters two texts have in common at their beginning; no character is cut in two. */
export function sameStart(before: string, after: string): number {
  if (after.startsWith(before)) return before.length;
  const shorter = Math.min(before.length, after.length);
  let at = 0;
  while (at < shorter && before.charCodeAt(at) === after.charCodeAt(at)) at++;
  const last = before.charCodeAt(at - 1);
  return last >= 0xd800 && last <= 0xdbff ? at - 1 : at;
}

/** A count of bytes for people: `1,048,576 bytes`. */
export function bytesText(bytes: number): string {
  return `${String(bytes).replace(/\B(?=(\d{3})+$)/g, ',')} bytes`;
}

/** What is no text in a bundle. Altair 6 writes `.json` where others write `+json`, and Jupyter keeps it. */
export function isJsonMimeType(type: string): boolean {
  return /^application\/(.*[+.])?json$/.test(type);
}
