import type { Readable } from 'node:stream';
import { maxValues, parseBounded } from './bounded-json.js';

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
  const finishLine = (end: string): void => {
    const line = parts.join('') + end;
    parts = [];
    length = 0;
    let value: unknown;
    try {
      value = parseBounded(line);
    } catch (error) {
      return fault(
        error instanceof RangeError ? `it sent a report of more than ${maxValues} values` : 'it sent something that is not a report',
      );
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
