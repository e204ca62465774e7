import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { parseToolArguments } from './parse-arguments.js';

const schema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    depth: { type: 'integer' },
    ratio: { type: ['number', 'null'] },
    deep: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    filter: { type: 'object' },
    either: { anyOf: [{ type: 'number' }, { type: 'string' }] },
  },
};
const parse = (...words: string[]) => parseToolArguments(words, { stdin: Readable.from(['{"from":"stdin"}']), schema: async () => schema });

describe('parseToolArguments', () => {
  it('takes nothing, one object, and standard input', async () => {
    expect(await parse()).toEqual({});
    expect(await parse('{"a":"x=y"}')).toEqual({ a: 'x=y' });
    expect(await parse('-')).toEqual({ from: 'stdin' });
  });

  it('gives words the types of the schema', async () => {
    const words = ['path=1', 'depth=2', 'ratio=0.5', 'deep=true', 'filter={"a":1}', 'either=7', 'other=[1]', 'text=plain'];
    expect(await parse(...words)).toEqual({
      path: '1',
      depth: 2,
      ratio: 0.5,
      deep: true,
      filter: { a: 1 },
      either: 7,
      other: [1],
      text: 'plain',
    });
  });

  it('keeps what stands behind the first "=", and an empty text', async () => {
    expect(await parse('path=a=b', 'text=')).toEqual({ path: 'a=b', text: '' });
  });

  it('collects a list from words, or takes it whole', async () => {
    expect(await parse('tags=1', 'tags=b')).toEqual({ tags: ['1', 'b'] });
    expect(await parse('tags=["a"]')).toEqual({ tags: ['a'] });
  });

  it('a key that has a meaning in JavaScript is a key like any other', async () => {
    const args = await parse('__proto__={"polluted":true}');
    expect(Object.keys(args)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([
    [['depth=two'], '"depth" is "two", but must be integer'],
    [['deep=yes'], '"deep" is "yes", but must be boolean'],
    [['path=a', 'path=b'], '"path" is given twice'],
    [['path=a', 'b'], '"b" is no "key=value"'],
    [['@/no/such/file'], 'cannot be read'],
    [['"text"'], 'are "text"'],
  ])('%j is refused', async (words, message) => {
    await expect(parse(...words)).rejects.toThrow(message);
  });
});
