import { printJson } from '@notebridge/kit/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';

/** How many schemas are joined at most: `allOf` of `allOf` of … can grow without end. */
const maxJoined = 200;

/** The schemas of one document: follows references, and joins what `allOf` says apart. Wrong schemas count as "anything". */
export class Schemas {
  readonly #root: unknown;

  constructor(root: unknown) {
    this.#root = root;
  }

  /** What a reference means: `#`, `#/$defs/Name`, `#name`. Undefined for what is not in this document. */
  resolve(reference: string): unknown {
    if (!reference.startsWith('#')) return undefined;
    const path = decode(reference.slice(1));
    if (path === '') return this.#root;
    if (!path.startsWith('/')) return this.#anchored(path);
    let at: unknown = this.#root;
    for (const part of path.slice(1).split('/')) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      at = isJsonObject(at) || Array.isArray(at) ? own(at, key) : undefined;
    }
    return at;
  }

  /** The schema with its own `$ref` and `allOf` joined into it. Cycles end where they begin again. */
  joined(schema: JsonObject): JsonObject {
    const parts: JsonObject[] = [];
    this.#collect(schema, parts, new Set());
    return parts.reduce(join, {});
  }

  #collect(schema: unknown, parts: JsonObject[], seen: Set<unknown>): void {
    if (!isJsonObject(schema) || seen.has(schema) || parts.length >= maxJoined) return;
    seen.add(schema);
    const { $ref, allOf, ...rest } = schema;
    if (typeof $ref === 'string') this.#collect(this.resolve($ref), parts, seen);
    if (Array.isArray(allOf)) for (const each of allOf) this.#collect(each, parts, seen);
    // What is said here is nearer than what is referred to.
    parts.push(rest);
  }

  #anchored(name: string): unknown {
    for (const key of ['$defs', 'definitions']) {
      const definitions = isJsonObject(this.#root) ? this.#root[key] : undefined;
      if (!isJsonObject(definitions)) continue;
      const found = Object.values(definitions).find((each) => isJsonObject(each) && each.$anchor === name);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** The members of an object, in the order in which the schema names them. Wrong members count as "anything". */
export function propertiesOf(schema: JsonObject): [name: string, schema: unknown][] {
  return isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
}

export function requiredOf(schema: JsonObject): Set<string> {
  return new Set(Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : []);
}

/** A schema that holds if both hold, as far as types go. */
function join(first: JsonObject, second: JsonObject): JsonObject {
  const result: JsonObject = { ...first, ...second };
  if (isJsonObject(first.properties) && isJsonObject(second.properties)) {
    const both = new Map(Object.entries(first.properties));
    for (const [name, schema] of Object.entries(second.properties)) both.set(name, joinMembers(both.get(name), schema));
    result.properties = Object.fromEntries(both);
  }
  if (Array.isArray(first.required) && Array.isArray(second.required))
    result.required = [...new Set([...first.required, ...second.required])];
  if (first.additionalProperties === false) result.additionalProperties = false;
  for (const key of ['anyOf', 'oneOf']) {
    // Both choices hold; the types of one of them are as near as Python comes.
    if (Array.isArray(first[key]) && Array.isArray(second[key])) result[key] = first[key];
  }
  return result;
}

function joinMembers(first: unknown, second: unknown): unknown {
  if (first === undefined || first === true) return second;
  if (second === true || printJson(first) === printJson(second)) return first;
  return { allOf: [first, second] };
}

function own(holder: object, key: string): unknown {
  return Object.hasOwn(holder, key) ? (holder as JsonObject)[key] : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
