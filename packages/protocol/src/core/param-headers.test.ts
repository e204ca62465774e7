// @module-tag P-351

import { describe, expect, it } from 'vitest';
import { parseJson } from '../exact-json.js';
import type { JsonObject } from '../json.js';
import { declaredHeaders, findMismatch, paramHeadersOf, toParamHeaders } from './param-headers.js';

const schemaOf = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
const schema = schemaOf({
  region: { type: 'string', 'x-mcp-header': 'Region' },
  count: { type: 'integer', 'x-mcp-header': 'Count' },
  dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
  where: { ...schemaOf({ tenant: { type: 'string', 'x-mcp-header': 'Tenant' } }), default: { 'x-mcp-header': 'data, not a declaration' } },
  'x-mcp-header': { type: 'string' },
  query: { type: 'string' },
});
const headers = declaredHeaders(schema).headers ?? expect.fail();

describe('declaredHeaders', () => {
  it('finds what is reached by properties alone', () => {
    expect(headers.map(({ name, path }) => [name, path.join('.')])).toEqual([
      ['Mcp-Param-Region', 'region'],
      ['Mcp-Param-Count', 'count'],
      ['Mcp-Param-Dry', 'dry'],
      ['Mcp-Param-Tenant', 'where.tenant'],
    ]);
    expect(declaredHeaders({ type: 'object' })).toEqual({ headers: [] });
  });

  const one = (more: JsonObject): JsonObject => schemaOf({ one: { type: 'string', 'x-mcp-header': 'One', ...more } });
  it.each([
    ['no text', one({ 'x-mcp-header': 7 })],
    ['an empty name', one({ 'x-mcp-header': '' })],
    ['a name with a space', one({ 'x-mcp-header': 'My Region' })],
    ['a name with a colon', one({ 'x-mcp-header': 'Region:' })],
    ['a name that is not ASCII', one({ 'x-mcp-header': 'Région' })],
    ['a name with a line break', one({ 'x-mcp-header': 'Region\r\nX: y' })],
    ['a number', one({ type: 'number' })],
    ['an object', one({ type: 'object' })],
    ['several types', one({ type: ['string', 'null'] })],
    ['no type', one({ type: undefined })],
    ['one name twice', schemaOf({ a: { type: 'string', 'x-mcp-header': 'Region' }, b: { type: 'string', 'x-mcp-header': 'REGION' } })],
    ['the schema itself', { type: 'string', 'x-mcp-header': 'Root' }],
    ['the items of an array', schemaOf({ list: { type: 'array', items: { type: 'string', 'x-mcp-header': 'Item' } } })],
    ['a branch', { type: 'object', oneOf: [one({})] }],
    ['a definition', { type: 'object', $defs: { one: { type: 'string', 'x-mcp-header': 'One' } } }],
    ['a condition', schemaOf({ a: { if: {}, else: { type: 'string', 'x-mcp-header': 'One' } } })],
    ['other keys', { type: 'object', additionalProperties: { type: 'string', 'x-mcp-header': 'One' } }],
  ])('refuses a declaration on %s', (_, inputSchema) => {
    expect(declaredHeaders(inputSchema).fault).toEqual(expect.stringContaining('x-mcp-header'));
    expect(paramHeadersOf([{ name: 'it', inputSchema }], 'it')).toEqual([]);
  });

  it('reads a schema that is nested without end in time, and refuses it', () => {
    let deep: JsonObject = {};
    for (let depth = 0; depth < 5000; depth++) deep = schemaOf({ a: deep });
    expect(declaredHeaders(deep).fault).toContain('nested too deeply');
  });
});

describe('toParamHeaders', () => {
  it('sends what is there, and nothing for what is null, missing, of no such type, or no safe integer', () => {
    const args = { region: 'us-west1', count: 42, dry: false, where: { tenant: 'a' }, query: 'SELECT 1' };
    expect(toParamHeaders(headers, args)).toEqual({
      'Mcp-Param-Region': 'us-west1',
      'Mcp-Param-Count': '42',
      'Mcp-Param-Dry': 'false',
      'Mcp-Param-Tenant': 'a',
    });
    expect(toParamHeaders(headers, { region: null, count: 2 ** 53, dry: {}, where: 'text' })).toEqual({});
    expect(toParamHeaders(headers, parseJson('{"count":42.0}'))).toEqual({ 'Mcp-Param-Count': '42' });
    expect(toParamHeaders(headers, parseJson('{"count":12345678901234567890}'))).toEqual({});
    for (const none of [undefined, null, 'text', []]) expect(toParamHeaders(headers, none)).toEqual({});
  });

  it.each([
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
    ['\tindented', '=?base64?CWluZGVudGVk?='],
    ['', '=?base64??='],
    ['us west 1', 'us west 1'],
    ['a', 'a'],
  ])('encodes %j, and the other side reads it', (region, value) => {
    const sent = toParamHeaders(headers, { region });
    expect(sent).toEqual({ 'Mcp-Param-Region': value });
    expect(findMismatch(headers, { region }, () => value)).toBeUndefined();
  });
});

describe('findMismatch', () => {
  const check = (args: unknown, sent: Record<string, string>): string | undefined =>
    findMismatch(headers, args, (name) => sent[name.slice('mcp-param-'.length)]);

  it('lets pass what agrees, numbers by their value, and what the arguments do not have', () => {
    expect(check({ region: 'a', count: 42, dry: true }, { region: 'a', count: '42.0', dry: 'true' })).toBeUndefined();
    expect(check(parseJson('{"count":42.0}'), { count: '42' })).toBeUndefined();
    expect(check({}, { region: 'a' })).toBeUndefined();
    expect(check({ region: null }, {})).toBeUndefined();
    expect(check(undefined, {})).toBeUndefined();
  });

  it.each([
    ['another value', { region: 'a' }, { region: 'b' }, 'says "b"'],
    ['another case', { region: 'a' }, { region: 'A' }, 'says "A"'],
    ['no header', { region: 'a' }, {}, 'is missing'],
    ['base64 without its padding', { region: 'Hello' }, { region: '=?base64?SGVsbG8?=' }, 'not encoded'],
    ['base64 with other characters', { region: 'Hello' }, { region: '=?base64?SGVs!G8=?=' }, 'not encoded'],
    ['base64 that is no UTF-8', { region: 'Hello' }, { region: '=?base64?/w==?=' }, 'not encoded'],
    ['bytes that no header may have', { region: 'é' }, { region: 'é' }, 'not encoded'],
    ['base64 without its marks', { region: 'Hello' }, { region: 'SGVsbG8=' }, 'says'],
    ['another number', { count: 42 }, { count: '43' }, 'says "43"'],
    ['a number in hexadecimal', { count: 42 }, { count: '0x2a' }, 'says "0x2a"'],
    ['a value deeper down', { where: { tenant: 'a' } }, {}, 'Mcp-Param-Tenant is missing; it must repeat the argument "where.tenant"'],
  ])('reports %s', (_, args, sent, words) => {
    expect(check(args, sent as Record<string, string>)).toContain(words);
  });
});
