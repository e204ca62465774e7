import type { JsonObject } from '@notebridge/protocol/json';
import * as z from 'zod';

/**
 * The schemas of an OpenAPI document from those of the code: each under its name, and named where it stands in another. `isOpen`: members that a
 * schema does not name may be there, now or in a later version.
 */
export function describeBodies(bodies: { readonly [name: string]: z.ZodType }, { isOpen = false } = {}): JsonObject {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(bodies)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    target: 'openapi-3.1',
    io: isOpen ? 'input' : 'output',
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
  return Object.fromEntries(Object.entries(schemas).map(([name, { $id: _, ...schema }]) => [name, schema]));
}

/** Takes out what tells a reader nothing: that numbers are those of JavaScript, that bodies are only read, and `anyOf` for what may be null. */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  const [some, none] = schema.anyOf ?? [];
  if (none?.type === 'null' && typeof some?.type === 'string' && some.enum === undefined) {
    delete schema.anyOf;
    Object.assign(schema, { ...some, ...schema, type: [some.type, 'null'] });
  }
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  delete schema.readOnly;
}
