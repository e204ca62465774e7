import { printJson } from '@notebridge/protocol/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';

/** How many schemas are joined at most: `allOf` of `allOf` of … can grow without end. */
const maxJoined = 200;

/** The schemas of one document: follows references, and joins what `allOf` says apart. Wrong schemas count as "anything". */
export class Schemas {
  readonly #root: unknown;
  #anchors: ReadonlyMap<unknown, JsonObject> | undefined;

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
    return joinAll(parts);
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
    this.#anchors ??= anchorsOf(this.#root);
    return this.#anchors.get(name);
  }
}

/** The definitions of a schema by their anchors; of several with one anchor the first counts. */
function anchorsOf(root: unknown): Map<unknown, JsonObject> {
  const found = new Map<unknown, JsonObject>();
  for (const key of ['$defs', 'definitions']) {
    const definitions = isJsonObject(root) ? root[key] : undefined;
    if (!isJsonObject(definitions)) continue;
    for (const each of Object.values(definitions)) if (isJsonObject(each) && !found.has(each.$anchor)) found.set(each.$anchor, each);
  }
  return found;
}

/** The members of an object, in the order in which the schema names them. Wrong members count as "anything". */
export function propertiesOf(schema: JsonObject): [name: string, schema: unknown][] {
  return isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
}

export function requiredOf(schema: JsonObject): Set<string> {
  return new Set(Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : []);
}

/** A schema that holds if all hold, as far as types go. Lists and members are copied once, however many parts there are. */
function joinAll(parts: readonly JsonObject[]): JsonObject {
  const result: JsonObject = {};
  let properties: Map<string, unknown> | undefined;
  let required: Set<unknown> | undefined;
  for (const part of parts) {
    // Both choices hold; the types of one of them are as near as Python comes.
    const kept = ['anyOf', 'oneOf'].filter((key) => Array.isArray(result[key]) && Array.isArray(part[key]));
    const first = Object.fromEntries(kept.map((key) => [key, result[key]]));
    const isClosed = result.additionalProperties === false;
    Object.assign(result, part, first, isClosed && { additionalProperties: false });
    if (isJsonObject(part.properties)) {
      properties ??= new Map();
      for (const [name, schema] of Object.entries(part.properties)) properties.set(name, joinMembers(properties.get(name), schema));
    }
    if (Array.isArray(part.required)) {
      required ??= new Set();
      for (const name of part.required) required.add(name);
    }
  }
  if (properties !== undefined) result.properties = Object.fromEntries(properties);
  if (required !== undefined) result.required = [...required];
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
