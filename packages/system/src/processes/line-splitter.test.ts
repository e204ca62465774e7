import { describe, expect, it } from 'vitest';
import { createLineSplitter } from './line-splitter.js';

describe('createLineSplitter', () => {
  it.each([
    ['lines of several chunks', ['a', 'b\nc\r', '\nd\n'], ['ab', 'c', 'd']],
    ['no empty lines', ['\n\na\n\n'], ['a']],
    ['the steps of a progress bar', ['1%\r2%\r', '3%\n'], ['1%', '2%', '3%']],
    ['a line that is too long, in pieces', ['xxxxxxxxxxxx\ny\n'], ['xxxxx', 'xxxxx', 'xx', 'y']],
    ['a line without an end, as far as it is full', ['xxxxxx', 'xxxxxx'], ['xxxxx', 'xxxxx']],
    ['nothing of a line that has not ended', ['abc'], []],
  ])('gives %s', (_, chunks, expected) => {
    const lines: string[] = [];
    const take = createLineSplitter(5, (line) => lines.push(line));
    for (const chunk of chunks) take(chunk);
    expect(lines).toEqual(expected);
  });
});
