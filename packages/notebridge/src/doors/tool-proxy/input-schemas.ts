import { isJsonObject } from '@notebridge/protocol/json';
import { parseBody } from '../http/read-body.js';
import { isRefusal, type Refusal, refuse } from '../http/refusal.js';
import type { ToolCallRequest } from './proxy-tool-call.js';

/** The body of a call, as the description of the routes shows it. */
export const callSchema = {
  type: 'object',
  properties: { arguments: { type: 'object', description: 'The arguments of the tool.' } },
  required: ['arguments'],
};

export const idempotencyKey = /^[\x21-\x7e]{1,255}$/;
export const challengePattern = /^[A-Za-z0-9_-]{16,256}$/;

/** Bodies up to this many characters are shown in faults; it also bounds how deeply they are nested. */
const longestShownBody = 2000;

/** Reads the body of a call: `{"arguments": {…}}`, other members are ignored. */
export function parseCallBody(text: string): ToolCallRequest | Refusal {
  const body = parseBody(text);
  if (isRefusal(body)) return body;
  const { value } = body;
  // In the form that the reference's framework gives to what is wrong in a request.
  const wrong = ([type, msg]: readonly [string, string], loc: string[], input: unknown): Refusal =>
    refuse(422, [{ type, loc, msg, input: text.length > longestShownBody ? undefined : input }]);
  if (!isJsonObject(value)) return wrong(notAModel, ['body'], value);
  const { arguments: args } = value;
  if (args === undefined) return wrong(missing, ['body', 'arguments'], value);
  return isJsonObject(args) ? { arguments: args } : wrong(notADictionary, ['body', 'arguments'], args);
}

const missing = ['missing', 'Field required'] as const;
const notAModel = ['model_attributes_type', 'Input should be a valid dictionary or object to extract fields from'] as const;
const notADictionary = ['dict_type', 'Input should be a valid dictionary'] as const;
