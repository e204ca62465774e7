import { AjvJsonSchemaValidator as ValidatorV2 } from '@modelcontextprotocol/client/validators/ajv';
import { AjvJsonSchemaValidator as ValidatorV1 } from '@modelcontextprotocol/sdk/validation/ajv-provider.js';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { createCompileCheck } from './schema-check.js';

const schemaWords = ['items', 'not', 'additionalProperties', 'contains', 'if', 'then', 'else', 'propertyNames', 'unevaluatedProperties'];
const listWords = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const numberWords = ['minimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxItems', 'minProperties', 'minContains'];
const otherWords = [
  'title',
  'nullable',
  'uniqueItems',
  '$comment',
  'x-own',
  'discriminator',
  '$id',
  'id',
  '$anchor',
  'dependencies',
  'readOnly',
  'const',
];
const values = [null, true, false, 0, 1.5, '', 'a', '(', '#', '#/$defs/A', '#/$defs/B', [], [1], ['a'], {}, { a: 1 }];

/** The same schemas for the same seed: keywords mostly with what they take, sometimes with anything. */
function createSchemas(seed: number): () => JsonObject {
  let state = seed;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
  const pick = <Item>(items: readonly Item[]): Item => items[next(items.length)] as Item;
  const schema = (depth: number): unknown => {
    if (depth > 3 || next(8) === 0) return pick([true, false, {}, { type: 'string' }, { $ref: '#/$defs/A' }]);
    const made: JsonObject = {};
    for (let count = next(4); count >= 0; count--) {
      const odd = next(9) === 0;
      const kind = next(7);
      if (kind === 0) made.type = odd ? pick(values) : pick(['object', 'array', 'string', ['string', 'null']]);
      else if (kind === 1)
        made[pick(['properties', 'patternProperties', '$defs'])] = odd ? pick(values) : { a: schema(depth + 1), 'b+': schema(depth + 1) };
      else if (kind === 2) made[pick(schemaWords)] = odd ? pick(values) : schema(depth + 1);
      else if (kind === 3) made[pick(listWords)] = odd ? pick(values) : [schema(depth + 1), schema(depth + 1)];
      else if (kind === 4) made[pick(numberWords)] = odd ? pick(values) : 1 + next(5);
      else if (kind === 5) made[pick(['required', 'enum', 'pattern', '$ref', '$schema'])] = odd ? pick(values) : ['a'];
      else made[pick(otherWords)] = pick(values);
    }
    return made;
  };
  return () => ({ type: 'object', $defs: { A: { type: 'string' } }, ...(schema(0) as JsonObject) });
}

function isCompiled(schema: JsonObject): boolean {
  try {
    for (const validator of [new ValidatorV1(), new ValidatorV2()]) validator.getValidator(schema);
    return true;
  } catch {
    return false;
  }
}

describe('a schema that is held to be plain without asking', () => {
  const check = (count: number, seed: number): number => {
    const create = createSchemas(seed);
    let plain = 0;
    for (let made = 0; made < count; made++) {
      const schema = create();
      if (createCompileCheck()(schema) !== true) continue;
      plain++;
      expect({ schema, isCompiled: isCompiled(schema) }).toEqual({ schema, isCompiled: true });
    }
    return plain;
  };

  it('is compiled by both validators of the official client', { tags: ['P-669'] }, () => {
    expect(check(60, 1)).toBeGreaterThan(10);
  });

  it('is so in thousands of schemas', { timeout: 600_000, tags: ['deep'] }, () => {
    expect(check(4000, 2)).toBeGreaterThan(500);
  });
});
