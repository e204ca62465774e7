/** More than any table or figure of a notebook: an empty list takes fifty times the memory of its three characters. */
export const maxValues = 2_000_000;

/**
 * As `JSON.parse`, of a text that is not trusted. Throws a RangeError for one of too many values, before it makes them. `parse`: another
 * parser.
 */
export function parseBounded(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  if (hasTooManyValues(text)) throw new RangeError(`more than ${maxValues} values`);
  return parse(text);
}

/** Looked at before the text is parsed, which would make them all. What stands within texts does not count. */
export function hasTooManyValues(line: string): boolean {
  if (line.length <= maxValues) return false;
  let values = 0;
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === quote) at = endOfText(line, at);
    else if ((code === comma || code === bracket || code === brace || code === colon) && ++values > maxValues) return true;
  }
  return false;
}

// Numbers that are written here: those of a list are looked up each time, which makes it slow.
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const bracket = 0x5b;
const brace = 0x7b;
const colon = 0x3a;

/** Where the text that begins here ends. */
function endOfText(line: string, start: number): number {
  const first = line.indexOf('"', start + 1);
  if (first === -1) return line.length;
  if (line.charCodeAt(first - 1) !== backslash) return first;
  // Character by character: to look for each of a hundred million quotes takes seconds.
  for (let at = start + 1; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === backslash) at++;
    else if (code === quote) return at;
  }
  return line.length;
}
