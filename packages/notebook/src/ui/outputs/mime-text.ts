import { toText } from '../../model/text.js';

/** Any value of a mime bundle as a text. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? toText(value.map(String)) : JSON.stringify(value, null, 2);
}
