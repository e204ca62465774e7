import { describe, expect, it } from 'vitest';
import { fieldsOf, toArguments, toValues } from '../../console-page/try-out/fields.js';

const schemaOf = (properties: object, required: string[] = []): object => ({ type: 'object', properties, required });
const filled = (properties: object, values: Record<string, string>, required: string[] = []) =>
  toArguments(fieldsOf(schemaOf(properties, required)), values);

describe('fieldsOf', () => {
  it('makes a field of each argument, those that are required first', () => {
    const properties = {
      note: { type: 'string', description: 'Anything.' },
      count: { type: ['integer', 'null'], default: 12 },
      isLoud: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
      unit: { enum: ['m', 'ft', 3] },
      list: { type: 'array' },
    };
    expect(
      fieldsOf(schemaOf(properties, ['list'])).map(({ name, kind, initial, isRequired }) => [name, kind, initial, isRequired]),
    ).toEqual([
      ['list', 'json', '[]', true],
      ['note', 'text', '', false],
      ['count', 'number', '12', false],
      ['isLoud', 'boolean', '', false],
      ['unit', 'choice', '', false],
    ]);
  });

  it('reads no reference, so that a schema may contain itself, and any schema has fields or none', () => {
    const node = { type: 'object', properties: { next: { $ref: '#' } } };
    expect(fieldsOf(node)).toMatchObject([{ name: 'next', kind: 'json' }]);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`n${at}`, { type: 'number' }]));
    expect(fieldsOf(schemaOf(many))).toHaveLength(500);
    for (const odd of [null, true, 'text', [], { properties: [] }, { properties: { a: null }, required: 'a' }])
      expect(fieldsOf(odd)).toBeDefined();
  });
});

describe('toArguments', () => {
  it('keeps what was typed: digits of numbers, text that looks like something else', () => {
    const properties = { id: { type: 'integer' }, text: { type: 'string' }, more: {} };
    expect(filled(properties, { id: '12345678901234567890', text: 'true', more: '{"n": 1.0}' })).toEqual({
      json: '{\n  "id": 12345678901234567890,\n  "text": "true",\n  "more": {"n": 1.0}\n}',
    });
  });

  it('leaves out what is empty, but for a text that is required', () => {
    expect(filled({ a: { type: 'string' }, b: { type: 'string' }, c: {} }, { a: '', b: '', c: '' }, ['b'])).toEqual({
      json: '{\n  "b": ""\n}',
    });
    expect(filled({ a: { type: 'string' } }, {})).toEqual({ json: '{}' });
  });

  it('says of each field what is wrong', () => {
    const properties = { a: { type: 'number' }, b: { type: 'number' }, c: { type: 'array' } };
    expect(filled(properties, { a: '', b: '0x10', c: '[1' }, ['a'])).toEqual({
      faults: { a: 'It is required.', b: 'It must be a number.', c: expect.stringContaining('It must be JSON') },
    });
  });

  it('has arguments of any name', () => {
    const properties = JSON.parse('{"__proto__":{"type":"number"},"a\\"b":{"type":"string"},"constructor":{"type":"number"}}') as object;
    const values = JSON.parse('{"__proto__":"1","a\\"b":"c","constructor":"2"}') as Record<string, string>;
    expect(filled(properties, values)).toEqual({ json: '{\n  "__proto__": 1,\n  "a\\"b": "c",\n  "constructor": 2\n}' });
    expect(filled(properties, {}, ['__proto__'])).toEqual({ faults: JSON.parse('{"__proto__":"It is required."}') });
  });
});

describe('toValues', () => {
  const fields = fieldsOf(schemaOf({ id: { type: 'integer' }, text: { type: 'string' }, unit: { enum: ['m', 'ft'] }, more: {} }));

  it('fills the fields from JSON, and back', () => {
    const json = '{\n  "id": 12345678901234567890,\n  "text": "a\\nb",\n  "unit": "ft",\n  "more": [1]\n}';
    const read = toValues(fields, json);
    expect(read).toEqual({ values: { id: '12345678901234567890', text: 'a\nb', unit: '"ft"', more: '[1]' } });
    expect('values' in read && toArguments(fields, read.values)).toEqual({ json });
  });

  it.each(['{"other": 1}', '{"text": 1}', '{"unit": "mile"}', '{"text": ""}'])('names what it has no field for: %s', (json) => {
    expect(toValues(fields, json)).toEqual({ without: Object.keys(JSON.parse(json) as object)[0] });
  });
});
