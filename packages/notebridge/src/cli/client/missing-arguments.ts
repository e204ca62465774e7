import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { shellWord } from '@notebridge/kit/shell-word';
import type { ToolAddress } from '../../core/tool-address.js';
import { printMessage } from '../../core/wire.js';
import { quote } from '../../util/quote.js';
import { withoutControls } from '../terminal-logger.js';

/**
 * Which required arguments of a tool's input schema a call lacked, and a line to type that has all of them; undefined if it lacked none.
 * The schema is the server's word: what is no name of a parameter as people type them is only named.
 */
export function describeMissing({ server, tool }: ToolAddress, args: JsonObject, schema: unknown): string | undefined {
  if (!isJsonObject(schema) || !Array.isArray(schema.required)) return undefined;
  const required = schema.required.filter((key): key is string => typeof key === 'string');
  const missing = required.filter((key) => !Object.hasOwn(args, key));
  if (missing.length === 0) return undefined;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const named = missing.map((key) => `${quote(key)}${kindOf(properties[key])}`).join(', ');
  const values = { ...Object.fromEntries(required.map((key) => [key, exampleOf(properties[key])])), ...args };
  const words = Object.entries(values).map(([key, value]) => `${key}=${typeof value === 'string' ? value : printMessage(value)}`);
  const line = ['notebridge', 'call', ...[server, tool, ...words].map((word) => shellWord(word))].join(' ');
  return withoutControls(`It lacks ${named}. For example: ${line}`);
}

function kindOf(property: unknown): string {
  const type = isJsonObject(property) ? property.type : undefined;
  return typeof type === 'string' ? ` (${type})` : '';
}

function exampleOf(property: unknown): unknown {
  const { default: preset, enum: values, examples, type } = isJsonObject(property) ? property : {};
  if (preset !== undefined) return preset;
  for (const list of [examples, values]) if (Array.isArray(list) && list.length > 0) return list[0];
  return typeof type === 'string' && Object.hasOwn(valuesByType, type) ? valuesByType[type] : 'TEXT';
}

const valuesByType: JsonObject = { integer: 1, number: 1, boolean: true, array: [], object: {}, null: null };
