import { describe, expect, it } from 'vitest';
import { findFault } from './json-schema.js';

const schema = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 5 },
    size: { type: 'integer', minimum: 0, maximum: 9 },
    kind: { enum: ['a', 'b'] },
    one: { const: 1 },
    list: { type: 'array', items: { type: 'number' }, minItems: 1, maxItems: 2 },
    either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    inner: { type: 'object', properties: { deep: { type: 'boolean' } }, required: ['deep'] },
    any: true,
  },
  required: ['title'],
  additionalProperties: false,
};

describe('findFault', () => {
  it.each([
    [{ title: 'x' }],
    [{ title: 'x', size: 9, kind: 'b', one: 1, list: [1.5], either: null, inner: { deep: true, more: 1 }, any: [] }],
  ])('finds none in %j', (value) => {
    expect(findFault(schema, value)).toBeUndefined();
  });

  it.each([
    [[], 'the arguments must be object, found []'],
    [{}, '"title" is missing'],
    [{ title: 1 }, '"title" must be string, found 1'],
    [{ title: '' }, '"title" must be at least 1 characters, found 0'],
    [{ title: 'abcdef' }, '"title" must be at most 5 characters, found 6'],
    [{ title: 'x', size: 1.5 }, '"size" must be integer, found 1.5'],
    [{ title: 'x', size: 10 }, '"size" must be at most 9, found 10'],
    [{ title: 'x', kind: 'c' }, '"kind" must be one of "a", "b", found "c"'],
    [{ title: 'x', one: 2 }, '"one" must be 1, found 2'],
    [{ title: 'x', list: [] }, '"list" must be at least 1 items, found 0'],
    [{ title: 'x', list: [1, 'y'] }, '"list[1]" must be number, found "y"'],
    [{ title: 'x', either: 1 }, '"either" fits none of its forms, the first because "either" must be string, found 1'],
    [{ title: 'x', inner: {} }, '"inner.deep" is missing'],
    [{ title: 'x', titel: 1 }, '"titel" is not known; known are title, size, kind, one, list, either, inner, any'],
    [{ title: 'x'.repeat(2000) }, '"title" must be at most 5 characters, found 2000'],
  ])('finds in %j: %s', (value, fault) => {
    expect(findFault(schema, value)).toBe(fault);
  });

  it('cuts long values, and takes keys of the prototype for what they are', () => {
    expect(findFault({ type: 'number' }, 'x'.repeat(2000))?.length).toBeLessThan(120);
    expect(findFault({ required: ['toString'] }, {})).toBe('"toString" is missing');
    expect(findFault({ properties: {}, additionalProperties: { type: 'string' } }, { constructor: 1 })).toContain('must be string');
  });
});
