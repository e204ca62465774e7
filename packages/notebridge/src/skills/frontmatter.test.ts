import { describe, expect, it } from 'vitest';
import { parseFrontmatter } from './frontmatter.js';

const fieldsOf = (...lines: string[]) => {
  const { fields, problems } = parseFrontmatter(['---', ...lines, '---', 'Body'].join('\n'));
  expect(problems).toEqual([]);
  return Object.fromEntries(fields);
};

describe('parseFrontmatter', () => {
  it('parts the head from the body, whatever the line ends', () => {
    const { fields, body, problems } = parseFrontmatter('\uFEFF\r\n---\r\nname: pdf\r\n---\r\n\r\n# Title\r\n---\r\nText\r\n');
    expect(Object.fromEntries(fields)).toEqual({ name: 'pdf' });
    expect(body).toBe('# Title\n---\nText');
    expect(problems).toEqual([]);
  });

  it.each<[string[], unknown]>([
    [['k: plain text # a comment'], 'plain text'],
    [['k:'], ''],
    [['k: null'], ''],
    [['k: 1.0'], '1.0'],
    [['k: Use when: the user asks, e.g. "why"'], 'Use when: the user asks, e.g. "why"'],
    [['k: see https://example.com/#part'], 'see https://example.com/#part'],
    [['k: "a \\"b\\" \\u00e9\\n" # c'], 'a "b" é\n'],
    [["k: 'it''s # no comment'"], "it's # no comment"],
    [['k: one', '  two', '  three'], 'one two three'],
    [['k: "one', '  two"'], 'one two'],
    [['k: >', '  one', '  two', '', '  three'], 'one two\nthree'],
    [['k: >-', '  one', '  two'], 'one two'],
    [['k: |', '  one', '    two', '  three: x'], 'one\n  two\nthree: x'],
    [['k: [a, "b, c", d]'], ['a', 'b, c', 'd']],
    [
      ['k: [a,', '  b]'],
      ['a', 'b'],
    ],
    [
      ['k:', '  - a', '  - "b: c"'],
      ['a', 'b: c'],
    ],
    [
      ['k:', '- a', '- b # c'],
      ['a', 'b'],
    ],
    [['k:', '  # why', '  author: me', '  "version": "1.0"'], { author: 'me', version: '1.0' }],
    [['k: { a: 1, b: "x, y" }'], { a: '1', b: 'x, y' }],
    [['k:', '  a:', '    b: c', '  d: e'], { a: '{"b":"c"}', d: 'e' }],
    [['# comment', '', 'k: v'], 'v'],
    [['"k": v'], 'v'],
  ])('reads %j', (lines, expected) => {
    expect(fieldsOf(...lines)).toEqual({ k: expected });
  });

  it('takes what can be understood of a broken head, and says what was odd, and where', () => {
    const { fields, body, problems } = parseFrontmatter('---\nname: a\n!!!\nname: b\nlist: [x\ntext: "open\ndescription: fine\n---\nBody');
    expect(Object.fromEntries(fields)).toEqual({ name: 'a', list: '[x', text: '"open', description: 'fine' });
    expect(body).toBe('Body');
    expect(problems).toEqual([
      'has something that is no "key: value" in line 3',
      'has "name" for the second time in line 4',
      'has a "[" that is not closed in line 5',
      'has quotes that do not enclose the text in line 6',
    ]);
  });

  it('finds the end of a head that is not closed', () => {
    expect(parseFrontmatter('---\nname: a\ndescription: b\n\n# Title\nText')).toMatchObject({
      body: '# Title\nText',
      problems: ['has a frontmatter without the "---" that ends it'],
    });
    expect(parseFrontmatter('---\nname: a')).toMatchObject({ body: '', fields: new Map([['name', 'a']]) });
  });

  it('takes a file without a head for its body', () => {
    expect(parseFrontmatter('# Title')).toEqual({
      fields: new Map(),
      body: '# Title',
      problems: ['has no frontmatter between lines of "---"'],
    });
    expect(parseFrontmatter('').problems).toHaveLength(1);
  });

  it('stays quick with a file that is something else altogether', () => {
    for (const odd of ['"'.repeat(200_000), '['.repeat(200_000), 'a '.repeat(200_000), "k: '".repeat(50_000), '\\"'.repeat(100_000)]) {
      expect(parseFrontmatter(`---\nk: ${odd}\n---\n`).fields.size).toBe(1);
      expect(parseFrontmatter(`---\n${odd}\n`).body).toBeTypeOf('string');
    }
  });
});
