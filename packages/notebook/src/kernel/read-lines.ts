import type { Readable } from 'node:stream';

/** One picture of the largest size that the kernel's Python side lets through, and room for its JSON. */
const maxLineCharacters = 256 * 1024 * 1024;
/** More than any table or figure of a notebook: an empty list takes fifty times the memory of its three characters. */
const maxValues = 2_000_000;

/** Reads lines of JSON from a process that is not trusted. `onFault` is called once, and nothing afterwards. */
export function readLines(stream: Readable, onValue: (value: unknown) => void, onFault: (reason: string) => void): void {
  let parts: string[] = [];
  let length = 0;
  let faulty = false;
  const fault = (reason: string) => {
    faulty = true;
    parts = [];
    onFault(reason);
  };
  const finishLine = (end: string): void => {
    const line = parts.join('') + end;
    parts = [];
    length = 0;
    if (hasTooManyValues(line)) return fault(`it sent a report of more than ${maxValues} values`);
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return fault('it sent something that is not a report');
    }
    onValue(value);
  };
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const pieces = chunk.split('\n');
    const rest = pieces.pop() ?? '';
    for (const piece of pieces) {
      if (faulty) return;
      finishLine(piece);
    }
    if (faulty) return;
    parts.push(rest);
    length += rest.length;
    if (length > maxLineCharacters) fault(`it sent a report of more than ${maxLineCharacters} characters`);
  });
}

/** Looked at before the line is parsed, which would make them all. What stands within texts does not count. */
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
