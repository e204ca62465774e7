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
    [['k: @all, `some` or %d'], '@all, `some` or %d'],
    [['k: one', '  Use when: two'], 'one Use when: two'],
    [['k: "C:\\dir"'], 'C:\\dir'],
    [['k: [*, "@a", b]'], ['*', '@a', 'b']],
    [
      ['k:', '  - Bash(git: *)', '  - Use when: x', '  - "a: b"', '  - @c'],
      ['Bash(git: *)', 'Use when: x', 'a: b', '@c'],
    ],
    [
      ['k:', '  - "a: b"', '  - c: d: e'],
      ['a: b', 'c: d: e'],
    ],
    [['k:', '  a: b: c', '  d: "e: f"'], { a: 'b: c', d: 'e: f' }],
    [['k:', '\ta: b'], { a: 'b' }],
    [['k:', '  a:', '    b:', '      c: [d]'], { a: '{"b":{"c":["d"]}}' }],
    // What other parsers turn into objects, run, or multiply.
    [['k: !!js/function "x"'], 'x'],
    [['k: &a [*a, *a]'], ['*a', '*a']],
    [['k:', '  <<: *a', '  b: c'], { '<<': '*a', b: 'c' }],
    [
      ['k:', '  constructor: a', '  "__proto__": b'],
      Object.fromEntries([
        ['constructor', 'a'],
        ['__proto__', 'b'],
      ]),
    ],
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

  it('takes the first of two nested keys, and says so', () => {
    const { fields, problems } = parseFrontmatter('---\nk:\n  a: 1\n  a: 2\n---\n');
    expect(fields.get('k')).toEqual({ a: '1' });
    expect(problems).toEqual(['has "a" for the second time in line 2']);
  });

  it('keeps a key named like a member of every object for a key', () => {
    const { fields } = parseFrontmatter('---\n__proto__: x\nk: { __proto__: { polluted: yes } }\n---\n');
    expect(fields.get('__proto__')).toBe('x');
    expect(Object.keys(fields.get('k') ?? {})).toEqual(['__proto__']);
    expect({}).not.toHaveProperty('polluted');
  });

  it('reads no more of a head than any needs', () => {
    const { fields, body, problems } = parseFrontmatter(`---\na: b\nk: ${'x'.repeat(9000)}\nlate: c\n---\nBody`);
    expect([...fields.keys()]).toEqual(['a', 'k']);
    expect(body).toBe('Body');
    expect(problems).toEqual(['has a frontmatter of more than 8192 characters; the rest was not read']);
  });

  it.each([
    '"',
    '[',
    '{a: ',
    'a ',
    "k: '",
    '\\"',
    '- ',
    '? ',
    '&a ',
    '! ',
    '[*a,',
    ',',
    ' ',
    '\t',
    'a(',
    '\na:',
    '\n!!!',
    '\n a: "x" b',
    '\n - *a',
    '\n  ',
  ])('stays quick with %j again and again', { tags: ['deep'] }, (part) => {
    const odd = part.repeat(200_000 / part.length);
    const start = performance.now();
    for (const head of [`k: ${odd}\n---\n`, `k: [${odd}]\n---\n`, `a${odd}b\n---\n`, odd]) {
      const { fields, body } = parseFrontmatter(`---\n${head}`);
      for (const value of fields.values()) expect(JSON.stringify(value).length).toBeLessThan(100_000);
      expect(body).toBeTypeOf('string');
    }
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  it('writes a deep nest once, and not each level into the one above', () => {
    const deep = Array.from({ length: 100 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n');
    expect(JSON.stringify([...parseFrontmatter(`---\n${deep}\n---\n`).fields]).length).toBeLessThan(2000);
    expect(JSON.stringify([...parseFrontmatter(`---\n${deep} x: y\n---\n`).fields]).length).toBeLessThan(20_000);
  });
});
