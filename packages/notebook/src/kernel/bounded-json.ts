/** More than any table or figure of a notebook: an empty list takes fifty times the memory of its three characters. */
export const maxValues = 2_000_000;

/** As `JSON.parse`, of a text that is not trusted. Throws a RangeError for one of too many values, before it makes them. */
export function parseBounded(text: string): unknown {
  if (hasTooManyValues(text)) throw new RangeError(`more than ${maxValues} values`);
  return JSON.parse(text);
}

/** Looked at before the text is parsed, which would make them all. What stands within texts does not count. */
function hasTooManyValues(line: string): boolean {
  if (line.length <= maxValues) return false;
  let values = 0;
  for (let at = 0; at < line.length; at++) {
    const character = line[at];
    if (character === '"') at = endOfText(line, at);
    else if ((character === ',' || character === '[' || character === '{' || character === ':') && ++values > maxValues) return true;
  }
  return false;
}

/** Where the text that begins here ends. */
function endOfText(line: string, start: number): number {
  for (let end = line.indexOf('"', start + 1); end !== -1; end = line.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (line[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return line.length;
}
