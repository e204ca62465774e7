/** The text of UTF-8; undefined for bytes that are no text. `keepsMark`: a mark of the byte order stays. */
export function textOfBytes(bytes: Buffer, { keepsMark = false }: { keepsMark?: boolean } = {}): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: keepsMark }).decode(bytes);
  } catch {
    return undefined;
  }
}
