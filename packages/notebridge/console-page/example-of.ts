/** Schemas nest without end, or name themselves. */
const deepest = 6;

/** Arguments to begin with, of a tool's schema: all that is required, with values of the right kind. */
export function exampleOf(schema: unknown, depth = 0): unknown {
  if (typeof schema !== 'object' || schema === null || depth > deepest) return null;
  const { type, properties, required, default: usual, const: only, enum: choices, anyOf, oneOf } = schema as Record<string, unknown>;
  if (usual !== undefined) return usual;
  if (only !== undefined) return only;
  if (Array.isArray(choices)) return choices[0];
  const [variant] = [anyOf, oneOf].filter(Array.isArray).flat();
  if (variant !== undefined) return exampleOf(variant, depth + 1);
  if (type === 'object' || properties !== undefined) return objectOf({ properties, required }, depth);
  const kind = Array.isArray(type) ? type[0] : type;
  return typeof kind === 'string' && Object.hasOwn(examples, kind) ? examples[kind] : null;
}

const examples: Readonly<Record<string, unknown>> = { string: '', number: 0, integer: 0, boolean: false, array: [], null: null };

function objectOf({ properties, required }: { properties: unknown; required: unknown }, depth: number): Record<string, unknown> {
  const names = Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
  const known = typeof properties === 'object' && properties !== null ? (properties as Record<string, unknown>) : {};
  return Object.fromEntries(names.map((name) => [name, exampleOf(known[name], depth + 1)]));
}
