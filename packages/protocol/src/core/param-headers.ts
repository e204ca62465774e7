import { ExactNumber, isJsonObject, type JsonObject } from '../json.js';
import { quote } from '../util/quote.js';
import type { Tool } from './mcp.js';

/** A parameter of a tool that calls over HTTP repeat in a header (`x-mcp-header`, MCP 2026-07-28). */
export interface ParamHeader {
  /** Of the header: `Mcp-Param-…`. */
  name: string;
  /** Where the parameter stands in the arguments. */
  path: readonly string[];
  type: 'string' | 'integer' | 'boolean';
}

/** What an input schema declares, or why its declarations cannot be used. */
export type DeclaredHeaders = { headers: readonly ParamHeader[]; fault?: undefined } | { headers?: undefined; fault: string };

const keyword = 'x-mcp-header';
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const types: readonly unknown[] = ['string', 'integer', 'boolean'] satisfies ParamHeader['type'][];
/** A schema that nests deeper declares nothing that a call could reach. */
const maxDepth = 1000;
/** Keywords whose value is data of the author, and no schema. */
const dataKeywords = new Set(['const', 'default', 'enum', 'example', 'examples']);

/** Reads the declarations of an input schema. They may stand only on what is reached by `properties` alone. */
export function declaredHeaders(inputSchema: JsonObject): DeclaredHeaders {
  const headers = new Map<string, ParamHeader>();
  try {
    visit(inputSchema, [], headers);
  } catch (error) {
    if (error instanceof BadDeclaration) return { fault: error.message };
    throw error;
  }
  return { headers: [...headers.values()] };
}

class BadDeclaration extends Error {}

function visit(schema: unknown, path: readonly string[], headers: Map<string, ParamHeader>): void {
  if (!isJsonObject(schema)) return;
  if (path.length > maxDepth) throw new BadDeclaration('its input schema is nested too deeply.');
  if (Object.hasOwn(schema, keyword)) declare(schema, path, headers);
  for (const [key, inner] of Object.entries(schema)) {
    if (key === 'properties' && isJsonObject(inner)) {
      for (const [name, property] of Object.entries(inner)) visit(property, [...path, name], headers);
    } else if (!dataKeywords.has(key)) assertUndeclared(inner, [...path, key]);
  }
}

function declare(schema: JsonObject, path: readonly string[], headers: Map<string, ParamHeader>): void {
  const { [keyword]: name, type } = schema;
  const where = `"${keyword}" of ${quote(path.join('.'))}`;
  if (path.length === 0) throw new BadDeclaration(`"${keyword}" stands on no parameter.`);
  if (typeof name !== 'string' || !token.test(name))
    throw new BadDeclaration(`${where} must be the name of a header, found ${quote(name)}.`);
  if (!types.includes(type)) throw new BadDeclaration(`${where} stands on the type ${quote(type)}; it must be string, integer or boolean.`);
  const key = name.toLowerCase();
  if (headers.has(key)) throw new BadDeclaration(`${where} is ${quote(name)}, as that of another parameter.`);
  headers.set(key, { name: `Mcp-Param-${name}`, path, type: type as ParamHeader['type'] });
}

/** Below anything but `properties` an argument has no fixed place. */
function assertUndeclared(inner: unknown, path: readonly string[]): void {
  if (path.length > maxDepth) throw new BadDeclaration('its input schema is nested too deeply.');
  if (Array.isArray(inner)) for (const item of inner) assertUndeclared(item, [...path, '[]']);
  if (!isJsonObject(inner)) return;
  if (Object.hasOwn(inner, keyword) && !isJsonObject(inner[keyword])) {
    throw new BadDeclaration(`"${keyword}" stands at ${quote(path.join('.'))}, which is not reached by "properties" alone.`);
  }
  for (const [key, deeper] of Object.entries(inner)) if (!dataKeywords.has(key)) assertUndeclared(deeper, [...path, key]);
}

const none: readonly ParamHeader[] = [];
const ofLists = new WeakMap<readonly Tool[], ReadonlyMap<string, readonly ParamHeader[]>>();

/** The headers that calls of a tool of this list repeat; none for a tool that declares none, declares them wrongly, or is not there. */
export function paramHeadersOf(tools: readonly Tool[], name: unknown): readonly ParamHeader[] {
  let declared = ofLists.get(tools);
  if (declared === undefined) {
    const entries = tools.map((tool) => [tool.name, declaredHeaders(tool.inputSchema).headers ?? none] as const);
    declared = new Map(entries.filter(([, headers]) => headers.length > 0));
    ofLists.set(tools, declared);
  }
  return declared.get(name as string) ?? none;
}

/** What a call with these arguments sends. A value that is null, missing or of no such type has no header. */
export function toParamHeaders(headers: readonly ParamHeader[], args: unknown): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const header of headers) {
    const text = toText(valueAt(args, header.path));
    if (text !== undefined) sent[header.name] = encodeHeaderValue(text);
  }
  return sent;
}

/** Why the headers of a call do not go with its arguments; undefined if they do. `headerOf` takes a name in lower case. */
export function findMismatch(
  headers: readonly ParamHeader[],
  args: unknown,
  headerOf: (name: string) => string | undefined,
): string | undefined {
  for (const { name, path, type } of headers) {
    const value = valueAt(args, path);
    const text = toText(value);
    if (text === undefined) continue;
    const where = `the argument ${quote(path.join('.'))}`;
    const sent = headerOf(name.toLowerCase());
    if (sent === undefined) return `The header ${name} is missing; it must repeat ${where}.`;
    const found = decodeHeaderValue(sent);
    if (found === undefined) return `${name} is not encoded correctly: ${quote(sent)}.`;
    if (found !== text && !(type === 'integer' && isSameNumber(found, value)))
      return `${name} says ${quote(found)}, ${where} ${quote(value)}.`;
  }
  return undefined;
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const key of path) value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' && !(value instanceof ExactNumber)) return undefined;
  const number = Number(value);
  // A larger integer would be another one for who reads it as a JavaScript number.
  return Number.isFinite(number) && (Number.isSafeInteger(number) || !Number.isInteger(number)) ? String(number) : undefined;
}

function isSameNumber(text: string, value: unknown): boolean {
  return /^-?\d+(\.\d+)?$/.test(text) && typeof value !== 'string' && typeof value !== 'boolean' && Number(text) === Number(value);
}

/** Text that a header carries as it is: printable ASCII, without space at its ends, and not looking encoded. */
const plain = /^(?!=\?base64\?.*\?=$)[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;
const encoded = /^=\?base64\?(.*)\?=$/s;
const canonicalBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A text as the value of a header of MCP 2026-07-28: what does not fit into one stands there as base64 of its UTF-8. */
export function encodeHeaderValue(text: string): string {
  return plain.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** The text of such a value. Undefined if it is wrongly encoded, or has characters that no header may have. */
export function decodeHeaderValue(value: string): string | undefined {
  const base64 = encoded.exec(value)?.[1];
  if (base64 === undefined) return /^[\x20-\x7e\t]*$/.test(value) ? value : undefined;
  if (!canonicalBase64.test(base64)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
}
