import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { parseMessage } from '@notebridge/protocol/core/wire';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';

/** Where the arguments of a call come from besides the command line. */
export interface ArgumentReads {
  stdin: NodeJS.ReadableStream;
  /** The input schema of the tool; asked only for `key=value`. */
  schema: () => Promise<unknown>;
}

/**
 * The arguments of a tool from the words behind its name: nothing, a JSON object, `-` (JSON on stdin), `@file`, or `key=value` words,
 * whose types the tool's input schema decides. @throws BridgeError `bad_usage`.
 */
export async function parseToolArguments(words: readonly string[], { stdin, schema }: ArgumentReads): Promise<JsonObject> {
  const [first = ''] = words;
  if (words.length === 0) return {};
  if (words.length === 1 && first === '-') return parseObject(await readAll(stdin), 'standard input');
  if (words.length === 1 && first.startsWith('@')) return parseObject(await readArgumentFile(first.slice(1)), `"${first.slice(1)}"`);
  if (words.length === 1 && !pair.test(first)) return parseObject(first, 'the argument');
  const pairs = words.map(splitPair);
  return toArguments(pairs, await schema());
}

/** Names of parameters are rarely more than letters, and JSON begins with a brace. */
const pair = /^[^{["=\s][^=\s]*=/;

function splitPair(word: string): [string, string] {
  const at = word.indexOf('=');
  if (pair.test(word)) return [word.slice(0, at), word.slice(at + 1)];
  throw bad(`${quote(word)} is no "key=value"`, 'Give the arguments as one JSON object in quotes, or as words like path=/tmp.');
}

async function readArgumentFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw bad(`The arguments cannot be read: ${messageOf(error)}`, 'Name a file with a JSON object in it.');
  }
}

function parseObject(text: string, where: string): JsonObject {
  let value: unknown;
  try {
    value = parseMessage(text);
  } catch (error) {
    throw bad(
      `The arguments in ${where} are no JSON: ${messageOf(error)}`,
      `Give one object, like '{"path": "/tmp"}', or words like path=/tmp.`,
    );
  }
  if (isJsonObject(value)) return value;
  throw bad(`The arguments in ${where} are ${quote(value)}`, `Give one object, like '{"path": "/tmp"}'.`);
}

function toArguments(pairs: readonly [string, string][], schema: unknown): JsonObject {
  const properties = isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : {};
  const args = new Map<string, unknown>();
  for (const [key, text] of pairs) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const types = typesOf(property);
    const before = args.get(key);
    // A list can be given word by word: path=a path=b.
    if (types.includes('array') && !text.startsWith('[')) {
      const item = toValue(text, typesOf(isJsonObject(property) ? property.items : undefined), key);
      args.set(key, Array.isArray(before) ? [...before, item] : [item]);
    } else if (args.has(key)) throw bad(`"${key}" is given twice`, 'Give it once.');
    else args.set(key, toValue(text, types, key));
  }
  return Object.fromEntries(args);
}

/** What a schema allows; empty if it does not say. */
function typesOf(schema: unknown): string[] {
  if (!isJsonObject(schema)) return [];
  const { type, anyOf, oneOf, enum: values } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.map(String);
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  if (choices.length > 0) return choices.flatMap(typesOf);
  return Array.isArray(values) ? values.map((value) => (value === null ? 'null' : typeof value)) : [];
}

/** The text itself where a text is wanted; else JSON, as far as the schema allows it. */
function toValue(text: string, types: readonly string[], key: string): unknown {
  const value = readJson(text);
  const kind = kindOf(value);
  if (types.length === 0) return value === undefined ? text : value;
  if (kind !== undefined && kind !== 'string' && types.some((type) => type === kind || (type === 'number' && kind === 'integer')))
    return value;
  if (types.includes('string')) return text;
  throw bad(`"${key}" is ${quote(text)}, but must be ${types.join(' or ')}`, "See the tool's input with: notebridge tools SERVER TOOL");
}

function readJson(text: string): unknown {
  try {
    return parseMessage(text);
  } catch {
    return undefined;
  }
}

function kindOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object') return isJsonObject(value) ? 'object' : 'number';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

function bad(found: string, next: string): BridgeError {
  return new BridgeError('bad_usage', `${found}. ${next}`);
}
