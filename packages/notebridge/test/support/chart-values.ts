import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';

/** A value of the chart that its schema says something of. */
export interface Leaf {
  /** Names, and `0` for an item of a list. */
  path: string[];
  schema: JsonObject;
  /** JSON's types that it may have. */
  types: string[];
  isRequired: boolean;
}

/** Each value of the schema: those that hold others, too. */
export function chartLeaves(schema: JsonObject): Leaf[] {
  const resolve = (written: unknown): JsonObject => {
    const { $ref, allOf, ...own } = isJsonObject(written) ? written : {};
    const of = typeof $ref === 'string' ? [definitionOf(schema, $ref)] : ((allOf ?? []) as unknown[]);
    return Object.assign({}, ...of.map(resolve), own) as JsonObject;
  };
  const walk = (written: unknown, path: string[], isRequired: boolean): Leaf[] => {
    const own = resolve(written);
    const required = (own.required ?? []) as string[];
    const inner = Object.entries((own.properties ?? {}) as JsonObject).flatMap(([name, each]) =>
      walk(each, [...path, name], required.includes(name) && !path.includes('0')),
    );
    const items = own.items === undefined ? [] : walk(own.items, [...path, '0'], false);
    const leaf = { path, schema: own, types: typesOf(own, resolve), isRequired };
    return [...(path.length === 0 ? [] : [leaf]), ...inner, ...items];
  };
  return walk(schema, [], false);
}

interface Limits {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  /** Here 1 or nothing, as `minItems` is. */
  minLength?: number;
  maxLength?: number;
  minItems?: number;
}

/** Values at the limits of a leaf, and just beyond them. */
export function limitsOf({ schema }: Leaf): { within: unknown[]; beyond: unknown[] } {
  const { minimum, maximum, maxLength, minLength, minItems, type, enum: choices = [] } = schema as Limits;
  const within: unknown[] = [...choices];
  const beyond: unknown[] = [];
  if (minimum !== undefined) {
    within.push(minimum);
    beyond.push(minimum - 1);
  }
  if (maximum !== undefined) {
    within.push(maximum);
    beyond.push(maximum + 1);
  }
  if (maxLength !== undefined) {
    within.push(longName(maxLength));
    beyond.push(longName(maxLength).padEnd(maxLength + 1, 'a'));
  }
  if (type === 'boolean') within.push(true, false);
  if (minLength !== undefined) beyond.push('');
  if (minItems !== undefined) beyond.push([]);
  return { within, beyond };
}

/** A copy with one value put in; lists and objects on the way there are made. */
export function withValue(values: JsonObject, path: readonly string[], value: unknown): JsonObject {
  const [first = '', ...rest] = path;
  const put = (before: unknown, steps: readonly string[]): unknown => {
    const [step, ...more] = steps;
    if (step === undefined) return value;
    if (step === '0') return [put(Array.isArray(before) ? before[0] : undefined, more)];
    return { ...(isJsonObject(before) ? before : {}), [step]: put(isJsonObject(before) ? before[step] : undefined, more) };
  };
  return { ...values, [first]: put(values[first], rest) };
}

/** Parts of 63 letters, as names of hosts have them at most. */
function longName(length: number): string {
  return `${'a'.repeat(63)}.`
    .repeat(Math.ceil(length / 64))
    .slice(0, length)
    .replace(/\.$/, 'a');
}

function definitionOf(schema: JsonObject, ref: string): unknown {
  return (schema.definitions as JsonObject)[ref.replace('#/definitions/', '')];
}

function typesOf(schema: JsonObject, resolve: (written: unknown) => JsonObject): string[] {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.flatMap((each) => typesOf(resolve(each), resolve));
  if (Array.isArray(schema.enum)) return [typeof schema.enum[0]];
  // A number that is not whole is of another type there.
  return [String(schema.type)];
}
