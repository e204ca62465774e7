/** Bytes in Base64, of either alphabet and also on several lines, or in hex. */
const encoded = /[\w+/-]{8,}(?:={0,2}(?:\r?\n|\\r\\n|\\n)[\w+/-]{4,})*={0,2}/g;
const lineBreaks = /\r?\n|\\r\\n|\\n/g;
const allHex = /^(?:[\da-f]{2})+$/i;

/** The parts of a secret's encoded forms, Base64 and hex, that stay the same whatever stands before and behind the secret. */
export function encodedPartsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const inBase64 = [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const part = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [part, part.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const inHex = bytes.toString('hex');
  return [...new Set([...inBase64, inHex, inHex.toUpperCase()])];
}

export function holdsEncoded(text: string, parts: readonly string[]): boolean {
  const onOneLine = text.length > 64 ? text.replaceAll(lineBreaks, '') : text;
  return parts.some((part) => onOneLine.includes(part));
}

/**
 * The text with all that is encoded in it passed through `redact`, and encoded as it was: a reader of Base64 still reads some. What holds one
 * of the parts nevertheless, between bytes that are no text, is left out whole.
 */
export function redactEncoded(
  text: string,
  options: { parts: readonly string[]; redact: (decoded: string) => string; mark: string },
): string {
  const { parts, redact, mark } = options;
  return text.replaceAll(encoded, (run) => {
    const hidden = redactRun(run, redact);
    return holdsEncoded(hidden, parts) ? mark : hidden;
  });
}

function redactRun(run: string, redact: (decoded: string) => string): string {
  if (allHex.test(run)) {
    const hidden = redactBytes(Buffer.from(run, 'hex'), redact);
    if (hidden !== undefined) return hidden.toString('hex');
  }
  const packed = run.replaceAll(lineBreaks, '');
  // It may begin behind what is no part of it.
  for (let offset = 0; offset < 4; offset++) {
    const hidden = redactBytes(Buffer.from(packed.slice(offset), 'base64'), redact);
    if (hidden !== undefined) return packed.slice(0, offset) + hidden.toString(/[-_]/.test(packed) ? 'base64url' : 'base64');
  }
  return run;
}

/** Undefined: nothing was hidden. Bytes that are no text are read one by one. */
export function redactBytes(bytes: Buffer, redact: (decoded: string, isText: boolean) => string): Buffer | undefined {
  const asText = bytes.toString('utf8');
  const [decoded, encoding] = asText.includes('\ufffd') ? [bytes.toString('latin1'), 'latin1' as const] : [asText, 'utf8' as const];
  const hidden = redact(decoded, encoding === 'utf8');
  return hidden === decoded ? undefined : Buffer.from(hidden, encoding);
}
