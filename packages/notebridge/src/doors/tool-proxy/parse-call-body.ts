import { isJsonObject, type JsonObject } from '../../util/json.js';
import { parseBody } from '../http/read-body.js';
import { isRefusal, type Refusal, refuse } from '../http/refusal.js';
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
  const toRefusal = (fault: BodyFault, input: unknown): Refusal =>
    refuse(422, [text.length > longestShownBody ? fault : { ...fault, input }]);
  if (!isJsonObject(value)) {
    const msg = 'Input should be a valid dictionary or object to extract fields from';
    return toRefusal({ type: 'model_attributes_type', loc: ['body'], msg }, value);
  }
  const { arguments: args } = value as JsonObject;
  if (args === undefined) return toRefusal({ type: 'missing', loc: ['body', 'arguments'], msg: 'Field required' }, value);
  if (!isJsonObject(args))
    return toRefusal({ type: 'dict_type', loc: ['body', 'arguments'], msg: 'Input should be a valid dictionary' }, args);
  return { arguments: args };
}
