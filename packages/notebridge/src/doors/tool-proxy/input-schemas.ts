import { isJsonObject } from '@notebridge/kit/json';
import { parseBody } from '../http/read-body.js';
import { isRefusal, type Refusal, refuse } from '../http/refusal.js';
import type { ToolCallRequest } from './proxy-tool-call.js';

/** A text of a request. JSON Schema: the description of the routes shows it, and requests are held against it. */
export interface TextSchema {
  readonly type: 'string';
  readonly pattern: string;
}

/** An object of a request, as far as it is looked at. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ObjectSchema>>;
  readonly required?: readonly string[];
}

/** The body of a call. */
export const callSchema = {
  type: 'object',
  properties: { arguments: { type: 'object', description: 'The arguments of the tool.' } },
  required: ['arguments'],
} as const satisfies ObjectSchema;

export const idempotencyKeySchema: TextSchema = { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' };
export const challengeSchema: TextSchema = { type: 'string', pattern: '^[A-Za-z0-9_-]{16,256}$' };

const patterns = new Map<TextSchema, RegExp>();

/** True if a text is what its schema says. */
export function fits(text: string, schema: TextSchema): boolean {
  let pattern = patterns.get(schema);
  if (pattern === undefined) {
    pattern = new RegExp(schema.pattern);
    patterns.set(schema, pattern);
  }
  return pattern.test(text);
}

/** One thing that is wrong in a request, in the form that the reference's framework gives it. */
export interface BodyFault {
  type: string;
  loc: string[];
  msg: string;
  input?: unknown;
}

/** Bodies up to this many characters are shown in faults; it also bounds how deeply they are nested. */
const longestShownBody = 2000;

/** Reads the body of a call: `{"arguments": {…}}`, other members are ignored. */
export function parseCallBody(text: string): ToolCallRequest | Refusal {
  const body = parseBody(text);
  if (isRefusal(body)) return body;
  const { value } = body;
  const wrong = findFault(value, callSchema, ['body']);
  if (wrong === undefined) return value as ToolCallRequest;
  return refuse(422, [text.length > longestShownBody ? { ...wrong, input: undefined } : wrong]);
}

/** The first thing in which a value is not what its schema says. */
function findFault(value: unknown, { required = [], properties = {} }: ObjectSchema, loc: string[]): BodyFault | undefined {
  if (!isJsonObject(value)) {
    const [type, msg] = loc.length === 1 ? notAModel : notADictionary;
    return { type, loc, msg, input: value };
  }
  for (const name of required)
    if (value[name] === undefined) return { type: 'missing', loc: [...loc, name], msg: 'Field required', input: value };
  for (const name in properties) {
    const schema = properties[name];
    const wrong = value[name] === undefined || schema === undefined ? undefined : findFault(value[name], schema, [...loc, name]);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

const notAModel = ['model_attributes_type', 'Input should be a valid dictionary or object to extract fields from'] as const;
const notADictionary = ['dict_type', 'Input should be a valid dictionary'] as const;
