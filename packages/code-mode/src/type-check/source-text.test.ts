// @module-tag P-450

import { describe, expect, it } from 'vitest';
import { SourceText } from './source-text.js';

const caught = (...lines: string[]) => {
  const text = new SourceText(lines.join('\n'));
  return lines.flatMap((_, line) => (text.mayBeCaught(line) ? [line] : []));
};

describe('SourceText', () => {
  it('counts lines and columns as language servers do, however lines end', () => {
    const text = new SourceText('a\r\n😀b\rc\nd');
    expect([0, 1, 2, 3].map((line) => text.lineAt(line))).toEqual(['a', '😀b', 'c', 'd']);
    for (const position of [
      { line: 0, character: 1 },
      { line: 1, character: 2 },
      { line: 3, character: 1 },
    ])
      expect(text.positionOf(text.offsetOf(position))).toEqual(position);
    expect(text.offsetOf({ line: 9, character: 9 })).toBe(text.text.length);
  });

  it('knows the lines whose errors an except takes, and not those of its handlers', () => {
    expect(caught('f()', 'try:', '    f()', 'except TypeError:', '    f()', 'f()')).toEqual([1, 2]);
    expect(caught('try:', '    try:', '        f()', '    finally:', '        g()', 'except:', '    h()')).toEqual([0, 1, 2, 3, 4]);
    expect(caught('try:', '    f()', 'finally:', '    g()')).toEqual([]);
    expect(caught('try:', '    f(', 'a=1)', 'except Exception: pass', 'g()')).toEqual([0, 1, 2]);
    expect(caught('try: f()', 'except* ValueError: pass')).toEqual([0]);
  });

  it('knows the lines whose errors a with takes', () => {
    expect(caught('with suppress(TypeError):', '    f(', ')', '    g()', 'h()')).toEqual([0, 1, 2, 3]);
    expect(caught('async with open_session() as session:', '    f()')).toEqual([]);
  });
});
