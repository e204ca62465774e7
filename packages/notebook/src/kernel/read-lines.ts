import type { Readable } from 'node:stream';

/** One picture of the largest size that the kernel's Python side lets through, and room for its JSON. */
const maxLineCharacters = 256 * 1024 * 1024;

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
  const finishLine = (end: string) => {
    const line = parts.join('') + end;
    parts = [];
    length = 0;
    try {
      return { value: JSON.parse(line) as unknown };
    } catch {
      return undefined;
    }
  };
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const pieces = chunk.split('\n');
    const rest = pieces.pop() ?? '';
    for (const piece of pieces) {
      if (faulty) return;
      const read = finishLine(piece);
      if (read) onValue(read.value);
      else fault('it sent something that is not a report');
    }
    if (faulty) return;
    parts.push(rest);
    length += rest.length;
    if (length > maxLineCharacters) fault(`it sent a report of more than ${maxLineCharacters} characters`);
  });
}
