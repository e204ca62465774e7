import { expect, it } from 'vitest';
import type { JsonObject } from '../json.js';
import { fitArguments } from './fit-arguments.js';

const schema = {
  type: 'object',
  properties: {
    index: { type: 'integer' },
    ratio: { type: 'number' },
    all: { type: 'boolean' },
    list: { type: 'array' },
    map: { type: 'object' },
    text: { type: 'string' },
    either: { type: ['string', 'integer'] },
    any: {},
  },
  required: ['index', 'text'],
};

it.each<[string, JsonObject, JsonObject]>([
  ['an integer', { index: '12' }, { index: 12 }],
  ['a negative one', { index: '-3' }, { index: -3 }],
  ['a number', { ratio: '-0.5e3' }, { ratio: -500 }],
  ['a boolean', { all: 'false' }, { all: false }],
  ['a list', { list: '["a", {"b": 1}]' }, { list: ['a', { b: 1 }] }],
  ['an object', { map: ' {"a": [1]}' }, { map: { a: [1] } }],
  ['null for what may be left out', { all: null, index: 1 }, { index: 1 }],
])('takes %s that came as text, or not at all', { tags: ['P-744'] }, (_, args, fitted) => {
  expect(fitArguments(schema, args)).toEqual(fitted);
  expect(args).not.toEqual(fitted);
});

it.each<JsonObject>([
  { index: '1.0' },
  { index: '01' },
  { index: ' 1' },
  { index: '1e3' },
  { index: '9007199254740993' },
  { index: '' },
  { index: null },
  { ratio: 'NaN' },
  { ratio: '1e999' },
  { all: 'True' },
  { all: '1' },
  { list: '{"a": 1}' },
  { list: '[1' },
  { map: 'null' },
  { text: '12' },
  { text: null },
  { either: '12' },
  { any: '12' },
  { other: '12' },
  { __proto__: null, constructor: '12' },
  { index: 3, list: [1], all: true },
])('leaves %j as it is', { tags: ['P-744'] }, (args) => {
  expect(fitArguments(schema, args)).toBe(args);
});

it('takes a schema without properties', () => {
  const args = { index: '1' };
  expect(fitArguments({ type: 'object' }, args)).toBe(args);
});
