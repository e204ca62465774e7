import { ExactNumber } from './exact-json.js';

/** A JSON object as it came over the wire: keys that we do not know are kept. */
export type JsonObject = { [key: string]: unknown };

/** True for a plain JSON object; arrays, null and exact numbers are not. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}
