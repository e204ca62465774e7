import { toPlainNumbers } from '@notebridge/protocol/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { toCommentText } from './comment-text.js';

export interface CleanSchema {
  /** Only keywords that decide a type, of which the compiler makes what they mean; every reference leads to `definitions`. */
  schema: JsonObject;
  /** What could not be typed, and became `unknown`: a few words each. */
  losses: string[];
}

export interface CleanOptions {
  /** The schema that references point into. */
  root: unknown;
  /** Before the names of definitions. */
  prefix: string;
}

/** Deeper schemas are not examined: nobody reads such a type. */
const maxDepth = 40;
const maxNodes = 20_000;
const maxEnum = 1000;
const maxVariants = 200;

/**
 * Rewrites a schema of a server so that the compiler of types can be trusted with it: names, code and addresses that the schema brings for
 * the compiler are gone, references outside the schema too, and cycles go through definitions.
 */
export function cleanSchema(schema: unknown, { root, prefix }: CleanOptions): CleanSchema {
  const cleaner = new Cleaner(toPlainNumbers(root), prefix);
  const clean = cleaner.clean(toPlainNumbers(schema), 0);
  return { schema: { ...clean, definitions: cleaner.definitions }, losses: [...cleaner.losses].sort() };
}

class Cleaner {
  readonly losses = new Set<string>();
  readonly definitions: Record<string, JsonObject> = {};
  readonly #root: unknown;
  readonly #prefix: string;
  /** The definition of each target. */
  readonly #names = new Map<unknown, string>();
  /** The number behind the last definition of each wished name; 1: that definition has the name without a number. */
  readonly #lastNumbers = new Map<string, number>();
  /** Definitions under way, since the last object or array: one that leads to itself without any says nothing. */
  #bare = new Set<unknown>();
  #nodes = 0;

  constructor(root: unknown, prefix: string) {
    this.#root = root;
    this.#prefix = prefix;
  }

  clean(schema: unknown, depth: number): JsonObject {
    if (schema === false) return never;
    if (!isJsonObject(schema)) return unknown;
    if (depth > maxDepth || ++this.#nodes > maxNodes) return this.#lose('it is too deep or too large');
    const notes = toNotes(schema);
    if (schema.$ref !== undefined) return this.#cleanReference(schema, depth, notes);
    const values = valuesOf(schema);
    if (values !== undefined) return { ...(values.length === 0 ? never : { enum: values }), ...notes };
    const typed = schema.nullable === true ? this.#cleanNullable(schema, depth) : this.#cleanTyped(schema, depth);
    return { ...typed, ...notes };
  }

  #cleanNullable(schema: JsonObject, depth: number): JsonObject {
    return { anyOf: [this.#cleanTyped(schema, depth), { type: 'null' }] };
  }

  /** Of a schema that says what type it has, and of what it is put together. */
  #cleanTyped(schema: JsonObject, depth: number): JsonObject {
    const types = typesOf(schema);
    const [own] = types;
    const variants = this.#cleanVariants(schema, depth);
    const members = types.length > 1 ? types.map((type) => this.#cleanOne(type, schema, depth)) : [];
    const base = types.length > 1 ? { anyOf: members } : own === undefined ? undefined : this.#cleanOne(own, schema, depth);
    const all = [...(base === undefined ? [] : [base]), ...variants];
    if (all.length === 0) return unknown;
    return all.length === 1 ? (all[0] ?? unknown) : { allOf: all };
  }

  #cleanOne(type: string, schema: JsonObject, depth: number): JsonObject {
    if (type !== 'object' && type !== 'array') return { type };
    const bare = this.#bare;
    this.#bare = new Set();
    try {
      return type === 'object' ? this.#cleanObject(schema, depth) : this.#cleanArray(schema, depth);
    } finally {
      this.#bare = bare;
    }
  }

  #cleanObject({ properties, required, additionalProperties, patternProperties }: JsonObject, depth: number): JsonObject {
    const own = isJsonObject(properties) ? Object.entries(properties) : [];
    const patterns = isJsonObject(patternProperties) ? Object.values(patternProperties) : [];
    const isOpen = additionalProperties === true || isJsonObject(additionalProperties);
    const rest = [...patterns, ...(isJsonObject(additionalProperties) ? [additionalProperties] : [])];
    // A signature for all other names must hold for the named ones too: with any of these it says nothing.
    const others = own.length === 0 && rest.length === 1 && additionalProperties !== true ? this.clean(rest[0], depth + 1) : true;
    const names = new Set(own.map(([name]) => name));
    const isMap = own.length === 0 && additionalProperties !== false;
    return {
      type: 'object',
      properties: Object.fromEntries(own.map(([name, value]) => [name, this.clean(value, depth + 1)])),
      required: Array.isArray(required) ? required.filter((name) => names.has(name)) : [],
      additionalProperties: isOpen || rest.length > 0 || isMap ? others : false,
    };
  }

  #cleanArray({ items, prefixItems, additionalItems }: JsonObject, depth: number): JsonObject {
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : undefined;
    if (first === undefined) return { type: 'array', items: this.clean(items, depth + 1) };
    const rest = Array.isArray(prefixItems) ? items : additionalItems;
    const tuple = first.slice(0, maxVariants).map((item) => this.clean(item, depth + 1));
    return { type: 'array', items: tuple, additionalItems: rest === false ? false : this.clean(rest, depth + 1), minItems: tuple.length };
  }

  /** What is said by `anyOf`, `oneOf` and `allOf`. A choice of which one part may be anything is no choice. */
  #cleanVariants(schema: JsonObject, depth: number): JsonObject[] {
    const choices = [schema.anyOf, schema.oneOf].filter((list) => Array.isArray(list) && list.length > 0) as unknown[][];
    const unions = choices.map((list) => list.slice(0, maxVariants).map((each) => this.clean(each, depth + 1)));
    const parts = Array.isArray(schema.allOf) ? schema.allOf.slice(0, maxVariants).map((each) => this.clean(each, depth + 1)) : [];
    return [...unions.filter((union) => !union.some(isUnknown)).map((anyOf) => ({ anyOf })), ...parts.filter((part) => !isUnknown(part))];
  }

  #cleanReference(schema: JsonObject, depth: number, notes: JsonObject): JsonObject {
    const { $ref, ...beside } = schema;
    const found = this.#resolve($ref);
    if (found === undefined) return { ...this.#lose(`the reference ${JSON.stringify($ref)?.slice(0, 100)} leads nowhere in it`), ...notes };
    if (this.#bare.has(found.target)) return unknown;
    const reference = { $ref: `#/definitions/${this.#define(found.target, found.name, depth)}` };
    const more = typesOf(beside).length > 0 || Array.isArray(beside.anyOf) || Array.isArray(beside.allOf) || Array.isArray(beside.oneOf);
    return more ? { allOf: [reference, this.clean(beside, depth + 1)], ...notes } : reference;
  }

  #define(target: unknown, wish: string, depth: number): string {
    const known = this.#names.get(target);
    if (known !== undefined) return known;
    const stem = `${this.#prefix}${wish}`;
    let name = stem;
    let number = this.#lastNumbers.get(stem) ?? 1;
    while (Object.hasOwn(this.definitions, name)) name = `${stem}${++number}`;
    this.#lastNumbers.set(stem, number);
    this.#names.set(target, name);
    // Its name stands before it is made: it may lead to itself.
    this.definitions[name] = {};
    this.#bare.add(target);
    this.definitions[name] = this.clean(target, depth + 1);
    this.#bare.delete(target);
    return name;
  }

  /** What a reference leads to, through references that say nothing else. */
  #resolve(reference: unknown): { target: unknown; name: string } | undefined {
    let at = reference;
    for (let hops = 0; hops < 50; hops++) {
      const found = lookUp(this.#root, at);
      if (found === undefined) return undefined;
      if (!isJsonObject(found.target) || found.target.$ref === undefined || Object.keys(found.target).some((key) => decides.has(key)))
        return found;
      at = found.target.$ref;
    }
    return undefined;
  }

  #lose(why: string): JsonObject {
    this.losses.add(why);
    return unknown;
  }
}

const unknown: JsonObject = Object.freeze({ tsType: 'unknown' });
const never: JsonObject = Object.freeze({ tsType: 'never' });

function isUnknown(schema: JsonObject): boolean {
  return schema.tsType === 'unknown';
}

const typeNames = new Set(['string', 'number', 'integer', 'boolean', 'null', 'object', 'array']);
const decides = new Set(['type', 'enum', 'const', 'properties', 'items', 'prefixItems', 'anyOf', 'oneOf', 'allOf', 'additionalProperties']);

/** The types that a schema names, or that its other keywords imply. */
function typesOf({ type, properties, additionalProperties, patternProperties, items, prefixItems }: JsonObject): string[] {
  const named = [type].flat().filter((name): name is string => typeof name === 'string' && typeNames.has(name));
  if (named.length > 0) return [...new Set(named)];
  if ([properties, patternProperties].some(isJsonObject) || isJsonObject(additionalProperties)) return ['object'];
  return items !== undefined || prefixItems !== undefined ? ['array'] : [];
}

/** The only values that are allowed; undefined if they are too many to name, or none are. */
function valuesOf(schema: JsonObject): unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema.const];
  return Array.isArray(schema.enum) && schema.enum.length <= maxEnum ? schema.enum : undefined;
}

/** What a person reads beside a parameter. */
function toNotes(schema: JsonObject): JsonObject {
  const { description, default: preset, deprecated } = schema;
  const lines = [
    ...(typeof description === 'string' && description.trim() !== '' ? [toCommentText(description)] : []),
    ...(preset === undefined ? [] : [toCommentText(`Default: ${JSON.stringify(preset).slice(0, 200)}`)]),
  ];
  return { ...(lines.length === 0 ? {} : { description: lines.join('\n') }), ...(deprecated === true ? { deprecated } : {}) };
}

/** Follows a pointer inside the schema. Anything else would have to be fetched from somewhere, and is not. */
function lookUp(root: unknown, reference: unknown): { target: unknown; name: string } | undefined {
  if (typeof reference !== 'string' || !(reference === '#' || reference.startsWith('#/'))) return undefined;
  let target = root;
  let last = 'Whole';
  for (const segment of reference.split('/').slice(1)) {
    last = plainSegment(segment);
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, last)) return undefined;
    target = (target as JsonObject)[last];
  }
  return { target, name: toTypeName(last) };
}

function plainSegment(segment: string): string {
  const plain = segment.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/** In the form that the compiler leaves as it is. */
function toTypeName(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Za-z]/.test(name) ? name.slice(0, 60) : `Part${name.slice(0, 56)}`;
}
