import { isJsonObject } from '@notebridge/kit/json';
import { parseBody } from '../http/read-body.js';
import { isRefusal, type Refusal, refuse } from '../http/refusal.js';
import { callSchema, type ObjectSchema } from './input-schemas.js';
import type { ToolCallRequest } from './proxy-tool-call.js';

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
