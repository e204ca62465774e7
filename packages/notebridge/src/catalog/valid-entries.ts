import { type ListMethod, listMethods } from '@notebridge/protocol/core/list-methods';
import type { LeftOutEntry } from '@notebridge/protocol/core/tool-server';
import { ExactNumber, isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { quote } from '@notebridge/protocol/util/quote';
import { createCompileCheck } from './schema-check.js';

/** Makes a value valid: the same one if it is, another one if that can be said, undefined if it has to be left out. */
type Validate = (value: unknown) => unknown;

const text: Validate = (value) => (typeof value === 'string' ? value : undefined);
const filledText: Validate = (value) => (value === '' ? undefined : text(value));
const truth: Validate = (value) => (typeof value === 'boolean' ? value : undefined);
const objectMember: Validate = (value) => (isJsonObject(value) ? value : undefined);
const whole: Validate = (value) => (isNumber(value) && Number.isInteger(Number(value)) ? value : undefined);

function oneOfWords(...values: readonly string[]): Validate {
  return (value) => (values.includes(value as string) ? value : undefined);
}

function between(least: number, most: number): Validate {
  return (value) => (isNumber(value) && Number(value) >= least && Number(value) <= most ? value : undefined);
}

/** A list without its faulty items. */
function listMember(validate: Validate): Validate {
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    const items = value.map(validate);
    return items.every((item, at) => item === value[at]) ? value : items.filter((item) => item !== undefined);
  };
}

/** An object without its faulty members; none without one that it needs. Members that are not in the table pass. */
function objectWith(table: Readonly<Record<string, Validate>>, needed: readonly string[] = []): (value: unknown) => JsonObject | undefined {
  return (value) => {
    if (!isJsonObject(value)) return undefined;
    let fixed: JsonObject | undefined;
    for (const [key, validate] of Object.entries(table)) {
      if (!Object.hasOwn(value, key)) continue;
      const member = validate(value[key]);
      if (member === value[key]) continue;
      fixed ??= { ...value };
      if (member === undefined) delete fixed[key];
      else fixed[key] = member;
    }
    const valid = fixed ?? value;
    return needed.every((key) => Object.hasOwn(valid, key)) ? valid : undefined;
  };
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || value instanceof ExactNumber;
}

/** The result of a list method as clients may see it. */
export interface ValidList {
  result: JsonObject;
  /** What could not be made valid. */
  leftOut: readonly LeftOutEntry[];
  /** How many entries were changed to be valid. */
  changed: number;
}

/** An entry that nests deeper is refused by clients that check it member by member. */
const maxDepth = 128;

const icon = objectWith({ src: text, mimeType: text, sizes: listMember(text), theme: oneOfWords('light', 'dark') }, ['src']);
const words: Record<string, Validate> = { title: text, description: text, icons: listMember(icon), _meta: objectMember };
const lastModified: Validate = (value) =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(value) &&
  !Number.isNaN(Date.parse(value))
    ? value
    : undefined;
const annotations = objectWith({ audience: listMember(oneOfWords('user', 'assistant')), priority: between(0, 1), lastModified });
const hints = { title: text, readOnlyHint: truth, destructiveHint: truth, idempotentHint: truth, openWorldHint: truth };
const argument = objectWith({ name: text, title: text, description: text, required: truth }, ['name']);
const schemaMembers = { $schema: text, properties: toProperties, required: listMember(text) };

const validators: Record<ListMethod, (entry: unknown) => JsonObject | undefined> = {
  'tools/list': objectWith(
    {
      ...words,
      name: filledText,
      inputSchema: toArgumentsSchema,
      outputSchema: objectWith(schemaMembers),
      annotations: objectWith(hints),
      execution: objectWith({ taskSupport: oneOfWords('required', 'optional', 'forbidden') }),
    },
    ['name', 'inputSchema'],
  ),
  'prompts/list': objectWith({ ...words, name: filledText, arguments: listMember(argument) }, ['name']),
  'resources/list': objectWith({ ...words, name: text, uri: toUri, mimeType: text, size: whole, annotations }, ['name', 'uri']),
  'resources/templates/list': objectWith({ ...words, name: text, uriTemplate: filledText, mimeType: text, annotations }, [
    'name',
    'uriTemplate',
  ]),
};

/**
 * The official clients check a list as a whole, so one faulty entry would cost an agent all of them, and those of every other server. What
 * is valid stays exactly as it came; members that are not are said otherwise or taken off; an entry that cannot be used is left out.
 */
export async function toValidList(method: ListMethod, listed: JsonObject): Promise<ValidList> {
  const valid = toValidEntries(method, listed);
  if (method !== 'tools/list') return valid;
  const tools = valid.result.tools as JsonObject[];
  const compiles = createCompileCheck();
  const checked: JsonObject[] = [];
  for (const tool of tools) checked.push((await isUsable(tool.outputSchema, compiles)) ? tool : withoutOutput(tool));
  const faulty = checked.filter((tool, at) => tool !== tools[at]).length;
  return faulty === 0 ? valid : { ...valid, result: { ...valid.result, tools: checked }, changed: valid.changed + faulty };
}

/** The same as far as it is known at once: without asking whether output schemas can be compiled. */
export function toValidEntries(method: ListMethod, listed: JsonObject): ValidList {
  const { items: key } = listMethods[method];
  const leftOut: LeftOutEntry[] = [];
  const items: JsonObject[] = [];
  let changed = 0;
  const entries = listed[key];
  if (!Array.isArray(entries)) leftOut.push({ what: 'all', name: undefined, why: `"${key}" is no list, but ${quote(entries)}` });
  for (const entry of Array.isArray(entries) ? entries : []) {
    const valid = toValidEntry(method, entry);
    if (typeof valid === 'string') leftOut.push(toLeftOut(method, entry, valid));
    else items.push(valid);
    if (typeof valid === 'object' && valid !== entry) changed++;
  }
  const result = objectWith({ nextCursor: text, _meta: objectMember })(listed) ?? {};
  const isSame = leftOut.length === 0 && changed === 0;
  return { result: isSame ? result : { ...result, [key]: items }, leftOut, changed };
}

/** The entry, or why it cannot be used. */
function toValidEntry(method: ListMethod, listed: unknown): JsonObject | string {
  if (!isJsonObject(listed)) return 'it is no object';
  if (isDeeper(listed, maxDepth)) return `it nests deeper than ${maxDepth} levels`;
  const entry = withNeeded(method, listed);
  return validators[method](entry) ?? explain(method, entry);
}

/** A tool without arguments may leave out their schema; a resource without a name has its URI. */
function withNeeded(method: ListMethod, entry: JsonObject): JsonObject {
  const { key } = listMethods[method];
  if (method === 'tools/list') return isJsonObject(entry.inputSchema) ? entry : { ...entry, inputSchema: { type: 'object' } };
  return key === 'name' || typeof entry.name === 'string' ? entry : { ...entry, name: entry[key] };
}

function explain(method: ListMethod, entry: JsonObject): string {
  const { key } = listMethods[method];
  if (method === 'resources/list' && typeof entry.uri === 'string') return `${quote(entry.uri)} is no URI`;
  if (filledText(entry[key]) === undefined) return `it has no "${key}": ${quote(entry)}`;
  const { type } = isJsonObject(entry.inputSchema) ? entry.inputSchema : {};
  return `its input schema is of the type ${quote(type)}, and arguments are an object`;
}

/** Of an entry of this list that is left out for this reason. */
export function toLeftOut(method: ListMethod, entry: unknown, why: string): LeftOutEntry {
  const { key, one } = listMethods[method];
  const name = isJsonObject(entry) ? entry[key] : undefined;
  return { what: name === undefined ? `a ${one}` : `${one} ${quote(name)}`, name, why };
}

/** Arguments are always an object, whether their schema says so or not. */
function toArgumentsSchema(value: unknown): unknown {
  const schema = objectWith(schemaMembers)(value);
  if (schema === undefined || schema.type === 'object') return schema;
  const { type } = schema;
  const meansObject = Array.isArray(type) ? type.includes('object') : (type ?? 'object') === 'object' || /^object$/i.test(String(type));
  return meansObject ? { ...schema, type: 'object' } : undefined;
}

/** A property whose schema is none may be anything; a list there is a keyword in the wrong place, and no property. */
function toProperties(value: unknown): unknown {
  if (!isJsonObject(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.every(([, schema]) => isSchema(schema))) return value;
  return Object.fromEntries(
    entries.filter(([, schema]) => !Array.isArray(schema)).map(([key, schema]) => [key, isSchema(schema) ? schema : {}]),
  );
}

function isSchema(value: unknown): boolean {
  return isJsonObject(value) || typeof value === 'boolean';
}

/** Clients compile output schemas when they list: one that cannot be compiled fails the list, or each call of its tool. */
function isUsable(schema: unknown, compiles: ReturnType<typeof createCompileCheck>): boolean | Promise<boolean> {
  return !isJsonObject(schema) || compiles(schema);
}

function withoutOutput({ outputSchema: _, ...tool }: JsonObject): JsonObject {
  return tool;
}

function toUri(value: unknown): unknown {
  return typeof value === 'string' && URL.canParse(value) ? value : undefined;
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}
