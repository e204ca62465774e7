/** Text that a header carries as it is: printable ASCII, without space at its ends, and not looking encoded. */
const plain = /^(?!=\?base64\?.*\?=$)[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;
const encoded = /^=\?base64\?(.*)\?=$/s;
const canonicalBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A text as the value of a header of MCP 2026-07-28: what does not fit into one stands there as base64 of its UTF-8. */
export function encodeHeaderValue(text: string): string {
  return plain.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** The text of such a value. Undefined if it is wrongly encoded, or has characters that no header may have. */
export function decodeHeaderValue(value: string): string | undefined {
  const base64 = encoded.exec(value)?.[1];
  if (base64 === undefined) return /^[\x20-\x7e\t]*$/.test(value) ? value : undefined;
  if (!canonicalBase64.test(base64)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
}
