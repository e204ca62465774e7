import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';

/**
 * Finds the first place where a value does not fit a JSON Schema, in words for the agent that sent it; undefined if it fits.
 * Knows the keywords that tool arguments are described with (`type`, `enum`, `const`, `properties`, `required`,
 * `additionalProperties`, `items`, `anyOf`, `oneOf` and the bounds); all others allow anything. A page that needs the whole
 * of JSON Schema gives a Standard Schema instead.
 */
export function findFault(schema: unknown, value: unknown, path = ''): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  const at = path === '' ? 'the arguments' : `"${path}"`;
  const { type, enum: allowed, anyOf, oneOf } = schema;
  const types = type === undefined ? [] : [type].flat();
  if (types.length > 0 && !types.some((name) => isOfType(value, name))) return `${at} must be ${types.join(' or ')}, found ${show(value)}`;
  if (Array.isArray(allowed) && !allowed.some((one) => isSame(one, value))) {
    return `${at} must be one of ${allowed.map(show).join(', ')}, found ${show(value)}`;
  }
  if ('const' in schema && !isSame(schema.const, value)) return `${at} must be ${show(schema.const)}, found ${show(value)}`;
  const forms = anyOf ?? oneOf;
  if (Array.isArray(forms) && forms.every((form) => findFault(form, value, path) !== undefined)) {
    return `${at} fits none of its forms, the first because ${findFault(forms[0], value, path)}`;
  }
  if (typeof value === 'number') return findBoundFault(schema, value, at, ['minimum', 'maximum'], '');
  if (typeof value === 'string') return findBoundFault(schema, value.length, at, ['minLength', 'maxLength'], ' characters');
  if (Array.isArray(value)) {
    const fault = findBoundFault(schema, value.length, at, ['minItems', 'maxItems'], ' items');
    return fault ?? firstOf(value.keys(), (index) => findFault(schema.items, value[index], `${path}[${index}]`));
  }
  return isJsonObject(value) ? findMemberFault(schema, value, path) : undefined;
}

function findMemberFault(schema: JsonObject, value: JsonObject, path: string): string | undefined {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const inside = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const missing = required.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) return `"${inside(missing)}" is missing`;
  return firstOf(Object.keys(value), (key) => {
    if (Object.hasOwn(properties, key)) return findFault(properties[key], value[key], inside(key));
    if (schema.additionalProperties !== false) return findFault(schema.additionalProperties, value[key], inside(key));
    return `"${inside(key)}" is not known; known are ${Object.keys(properties).join(', ') || 'none'}`;
  });
}

function findBoundFault(schema: JsonObject, size: number, at: string, [least, most]: [string, string], unit: string): string | undefined {
  const { [least]: minimum, [most]: maximum } = schema;
  if (typeof minimum === 'number' && size < minimum) return `${at} must be at least ${minimum}${unit}, found ${size}`;
  if (typeof maximum === 'number' && size > maximum) return `${at} must be at most ${maximum}${unit}, found ${size}`;
  return undefined;
}

/** Where `typeof` says something else. */
const isOf = new Map<unknown, (value: unknown) => boolean>([
  ['null', (value) => value === null],
  ['array', Array.isArray],
  ['object', isJsonObject],
  ['integer', Number.isInteger],
]);

function isOfType(value: unknown, type: unknown): boolean {
  return isOf.get(type)?.(value) ?? typeof value === type;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function firstOf<Item>(items: Iterable<Item>, find: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
