import type { ListMethod } from '@notebridge/protocol/core/list-methods';
import type { JsonObject } from '@notebridge/protocol/json';

/** An entry as servers have really listed it, and what becomes of it. */
export interface OddEntry {
  entry: unknown;
  /** Under its own name; undefined: it is left out. */
  shown: JsonObject | undefined;
}

const object = { type: 'object' };
const one = (name: string, more: JsonObject): JsonObject => ({ name, inputSchema: object, ...more });
const becomes = (name: string, odd: JsonObject, valid: JsonObject): OddEntry => ({ entry: one(name, odd), shown: one(name, valid) });
const input = (name: string, odd: unknown, valid: unknown): OddEntry => becomes(name, { inputSchema: odd }, { inputSchema: valid });
const output = (name: string, odd: unknown, valid?: unknown): OddEntry =>
  becomes(name, { outputSchema: odd }, valid === undefined ? {} : { outputSchema: valid });
const leftOut = (entry: unknown): OddEntry => ({ entry, shown: undefined });
const withProperty = (a: unknown, more: JsonObject = {}): JsonObject => ({ type: 'object', properties: { a, ...more } });

/** How legacy agents are shown them: each makes one of the official clients refuse the list as a whole, or each call of the tool. */
export const oddTools: readonly OddEntry[] = [
  input('input-null', null, object),
  input('input-text', 'object', object),
  input('input-list', [], object),
  { entry: { name: 'input-missing' }, shown: one('input-missing', {}) },
  input('input-empty', {}, object),
  input(
    'input-dialect-alone',
    { $schema: 'http://json-schema.org/draft-07/schema#' },
    { $schema: 'http://json-schema.org/draft-07/schema#', ...object },
  ),
  input('input-any-of', { anyOf: [withProperty({})] }, { anyOf: [withProperty({})], ...object }),
  input('input-type-null', { type: null }, object),
  input('input-type-list', { type: ['object', 'null'] }, object),
  input('input-type-upper', { type: 'OBJECT' }, object),
  leftOut(one('input-of-text', { inputSchema: { type: 'string' } })),
  leftOut(one('input-of-list', { inputSchema: { type: 'array', items: {} } })),
  input('input-dialect-number', { ...object, $schema: 7 }, object),
  input('properties-null', { ...object, properties: null }, object),
  input('properties-list', { ...object, properties: [] }, object),
  input('property-true', withProperty(true), withProperty({})),
  input('property-false', withProperty(false), withProperty({ not: {} })),
  input('property-null', withProperty(null), withProperty({})),
  input('property-text', withProperty('string'), withProperty({})),
  input('required-inside', withProperty({ type: 'string' }, { required: ['a'] }), withProperty({ type: 'string' })),
  input('required-null', { ...object, required: null }, object),
  input('required-true', { ...object, required: true }, object),
  input('required-of-numbers', { ...object, required: ['a', 1] }, { ...object, required: ['a'] }),
  output('output-null', null),
  output('output-true', true),
  output('output-of-text', { type: 'string' }),
  output('output-empty', {}, object),
  output('output-property-true', withProperty(true), withProperty({})),
  output('output-property-null', withProperty(null), withProperty({})),
  output('output-required-in-property', withProperty({ type: 'string', required: true })),
  output('output-unknown-type', withProperty({ type: 'date' })),
  output('output-lost-reference', withProperty({ $ref: '#/$defs/Lost' })),
  output('output-broken-pattern', withProperty({ type: 'string', pattern: '(' })),
  output('output-old-dialect', { ...object, $schema: 'http://json-schema.org/draft-04/schema#' }),
  becomes('title-null', { title: null }, {}),
  becomes('description-null', { description: null }, {}),
  becomes('description-number', { description: 1 }, {}),
  becomes('annotations-null', { annotations: null }, {}),
  becomes('hint-null', { annotations: { readOnlyHint: null, title: 'T' } }, { annotations: { title: 'T' } }),
  becomes('hint-text', { annotations: { readOnlyHint: 'true' } }, { annotations: {} }),
  becomes('icons-null', { icons: null }, {}),
  becomes('icon-sizes-text', { icons: [{ src: 'data:,', sizes: '48x48' }] }, { icons: [{ src: 'data:,' }] }),
  becomes('icon-without-source', { icons: [{ mimeType: 'image/png' }] }, { icons: [] }),
  becomes('execution-unknown', { execution: { taskSupport: 'maybe' } }, { execution: {} }),
  becomes('meta-null', { _meta: null }, {}),
  leftOut({ name: null, inputSchema: object }),
  leftOut({ name: 5, inputSchema: object }),
  leftOut({ inputSchema: object }),
  leftOut(null),
  leftOut('tool'),
];

/** What only looks odd. */
export const validTools: readonly JsonObject[] = [
  one('then', { title: '', description: 'A name that code awaits.' }),
  one('valid-unknown-keys', { 'x-own': { a: null }, annotations: { 'x-hint': 1, readOnlyHint: true } }),
  one('valid-schema', {
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { a: { $ref: '#/$defs/A' }, b: { anyOf: [{ type: 'null' }, { enum: [1] }], default: null } },
      required: [],
      $defs: { A: { type: ['string', 'null'] } },
    },
    outputSchema: {
      type: 'object',
      properties: { a: { $ref: '#/$defs/A' }, b: { type: 'string', format: 'date', nullable: true } },
      $defs: { A: { type: 'array', items: { not: {} } } },
    },
  }),
];

const uri = 'test://a';
export const oddItems: Readonly<Record<Exclude<ListMethod, 'tools/list'>, readonly OddEntry[]>> = {
  'prompts/list': [
    { entry: { name: 'arguments-null', arguments: null }, shown: { name: 'arguments-null' } },
    {
      entry: { name: 'argument-text', arguments: ['a', { name: 'b', required: 'yes' }] },
      shown: { name: 'argument-text', arguments: [{ name: 'b' }] },
    },
    { entry: { name: 'description-null', description: null }, shown: { name: 'description-null' } },
    leftOut({ name: null }),
  ],
  'resources/list': [
    { entry: { uri, name: null, mimeType: null }, shown: { uri, name: uri } },
    { entry: { uri: `${uri}/size`, name: 'size', size: '12' }, shown: { uri: `${uri}/size`, name: 'size' } },
    {
      entry: { uri: `${uri}/annotations`, name: 'x', annotations: { audience: ['user', 'robot'], priority: 7, lastModified: 'yesterday' } },
      shown: { uri: `${uri}/annotations`, name: 'x', annotations: { audience: ['user'] } },
    },
    leftOut({ uri: null, name: 'x' }),
    leftOut({ uri: 'no URI', name: 'x' }),
  ],
  'resources/templates/list': [
    { entry: { uriTemplate: `${uri}/{x}`, name: 'x', description: 5 }, shown: { uriTemplate: `${uri}/{x}`, name: 'x' } },
    leftOut({ name: 'x' }),
  ],
};

/** What each list of the fixture `lists.mjs` has, odd and valid. */
export const oddLists: Readonly<Record<ListMethod, readonly unknown[]>> = {
  'tools/list': [...oddTools.map(({ entry }) => entry), ...validTools],
  'prompts/list': oddItems['prompts/list'].map(({ entry }) => entry),
  'resources/list': oddItems['resources/list'].map(({ entry }) => entry),
  'resources/templates/list': oddItems['resources/templates/list'].map(({ entry }) => entry),
};

export function shownOf(odd: readonly OddEntry[]): JsonObject[] {
  return odd.flatMap(({ shown }) => (shown === undefined ? [] : [shown]));
}
