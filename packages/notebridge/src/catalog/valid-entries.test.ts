import { AjvJsonSchemaValidator as ValidatorV2 } from '@modelcontextprotocol/client/validators/ajv';
import {
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator as ValidatorV1 } from '@modelcontextprotocol/sdk/validation/ajv-provider.js';
import { type ListMethod, listMethods } from '@notebridge/protocol/core/list-methods';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { oddItems, oddTools, shownOf, validTools } from '../../test/support/odd-entries.js';
import { toLegacyTools } from '../doors/mcp/legacy-era.js';
import { toValidList } from './valid-entries.js';

const schemas = {
  'tools/list': ListToolsResultSchema,
  'prompts/list': ListPromptsResultSchema,
  'resources/list': ListResourcesResultSchema,
  'resources/templates/list': ListResourceTemplatesResultSchema,
};

/** Whether the official client takes a list, and compiles its output schemas. */
function isTaken(method: ListMethod, result: JsonObject): boolean {
  if (!schemas[method].safeParse(result).success) return false;
  const tools = method === 'tools/list' ? (result.tools as JsonObject[]) : [];
  return tools.every(({ outputSchema }) => !isJsonObject(outputSchema) || compilesIn(outputSchema));
}

function compilesIn(schema: JsonObject): boolean {
  try {
    for (const validator of [new ValidatorV1(), new ValidatorV2()]) validator.getValidator(schema);
    return true;
  } catch {
    return false;
  }
}

async function listed(method: ListMethod, entries: readonly unknown[]): Promise<JsonObject> {
  const { result } = await toValidList(method, { [listMethods[method].items]: entries });
  return method === 'tools/list' ? toLegacyTools(result) : result;
}

describe('a list with an odd entry', () => {
  const cases = Object.entries({ 'tools/list': oddTools, ...oddItems }).flatMap(([method, entries]) =>
    entries.map((odd) => [method as ListMethod, JSON.stringify(odd.entry), odd] as const),
  );

  it.each(cases)('of %s is taken by the official client once it is valid: %s', { tags: ['P-669'] }, async (method, _, { entry, shown }) => {
    const result = await listed(method, [entry]);
    expect(result).toEqual({ [listMethods[method].items]: shown === undefined ? [] : [shown] });
    expect(isTaken(method, result)).toBe(true);
  });

  it('is refused as it came, by one of the official clients', () => {
    const taken = oddTools.filter(({ entry }) => isTaken('tools/list', { tools: [entry] }));
    // The client for Python refuses these.
    expect(taken.map(({ entry }) => (entry as JsonObject).name)).toEqual(['input-dialect-number', 'required-inside']);
  });

  it('keeps what is valid, the same objects in the same order', { tags: ['P-669'] }, async () => {
    const tools = [oddTools[0]?.entry, ...validTools, null];
    const { result, leftOut, changed } = await toValidList('tools/list', { tools, nextCursor: 'x', 'x-own': 1, ttlMs: 5 });
    expect(result).toMatchObject({ nextCursor: 'x', 'x-own': 1, ttlMs: 5 });
    const shown = result.tools as unknown[];
    for (const [at, tool] of validTools.entries()) expect(shown[at + 1]).toBe(tool);
    expect({ count: shown.length, leftOut: leftOut.length, changed }).toEqual({ count: validTools.length + 1, leftOut: 1, changed: 1 });
    const whole = { tools: [...validTools] };
    expect((await toValidList('tools/list', whole)).result).toBe(whole);
    expect(toLegacyTools(whole)).toBe(whole);
  });

  it('keeps no output schema for clients of the legacy era that may be of anything but objects', () => {
    const outputs = [{ anyOf: [{ type: 'array' }] }, { $ref: '#/$defs/List' }, { enum: [1] }, { type: 'array' }];
    const objects = [{ type: 'object' }, { properties: { a: {} }, anyOf: [{ required: ['a'] }] }, {}];
    const shown = (schemas: object[]) => toLegacyTools({ tools: schemas.map((outputSchema) => ({ name: 't', outputSchema })) }).tools;
    expect(shown(outputs)).toEqual(outputs.map(() => ({ name: 't' })));
    expect(shown(objects)).toEqual(objects.map((schema) => ({ name: 't', outputSchema: { ...schema, type: 'object' } })));
  });

  it('has a cursor or none, and says what is left out', async () => {
    const { result, leftOut } = await toValidList('resources/list', {
      resources: [{ uri: 'x y', name: 'a' }],
      nextCursor: null,
      _meta: 'x',
    });
    expect(result).toEqual({ resources: [] });
    expect(leftOut).toEqual([{ what: 'resource "x y"', name: 'x y', why: '"x y" is no URI' }]);
    expect((await toValidList('tools/list', { tools: 'x' })).leftOut[0]?.why).toBe('"tools" is no list, but "x"');
  });

  it('is as fast as its valid entries where thousands are odd', async () => {
    const odd = oddTools.flatMap(({ entry }) => (isJsonObject(entry) && entry.outputSchema === undefined ? [entry] : []));
    const tools = Array.from({ length: 10_000 }, (_, at) => ({ ...odd[at % odd.length], ...(at % 7 !== 0 && { name: `t${at}` }) }));
    const { result } = await toValidList('tools/list', { tools });
    expect((result.tools as unknown[]).length).toBeGreaterThan(8000);
    expect(isTaken('tools/list', toLegacyTools(result))).toBe(true);
    expect(shownOf(oddTools).length).toBeGreaterThanOrEqual(39);
  });
});
