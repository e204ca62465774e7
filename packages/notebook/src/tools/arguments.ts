import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { nearest } from '@notebridge/protocol/util/did-you-mean';
import { NotebookError } from '../model/errors.js';
import { describeValue } from '../model/nbformat-schema.js';

/** The JSON Schema of one argument: as much of it as our tools use. */
export interface ArgumentSchema {
  type: 'integer' | 'string' | 'boolean';
  description?: string;
  minimum?: number;
  maximum?: number;
  enum?: readonly string[];
  default?: unknown;
}

/** The JSON Schema of a tool's arguments. */
export interface InputSchema {
  type: 'object';
  properties: { readonly [name: string]: ArgumentSchema };
  required: readonly string[];
  additionalProperties: false;
}

/** The arguments of a call, once they are known to fit the schema. Throws `bad_arguments`, naming all that is wrong. */
export function checkArguments(tool: string, schema: InputSchema, given: unknown): JsonObject {
  const args = given ?? {};
  const faults = isJsonObject(args) ? faultsOf(schema, args) : [`an object is wanted, and ${describeValue(given)} was given`];
  if (faults.length === 0) return args as JsonObject;
  throw new NotebookError('bad_arguments', `Invalid arguments for ${tool}: ${faults.join('; ')}.`, { data: { tool } });
}

function faultsOf({ properties, required }: InputSchema, given: JsonObject): string[] {
  const names = Object.keys(properties);
  const wrong = names.flatMap((name) => {
    const schema = properties[name];
    if (!schema || !Object.hasOwn(given, name)) return required.includes(name) ? [`${name} is required: ${wanted(schema)}`] : [];
    return fits(schema, given[name]) ? [] : [`${name} has to be ${wanted(schema)}, and is ${describeValue(given[name])}`];
  });
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  return [...wrong, ...unknown.map((name) => unknownFault(name, names))];
}

function unknownFault(name: string, names: readonly string[]): string {
  const [near] = nearest(name, names, 1);
  const all = names.length === 0 ? 'it takes none' : `it takes ${names.join(', ')}`;
  return `there is no argument ${describeValue(name)}${near === undefined ? '' : ` (did you mean ${near}?)`}; ${all}`;
}

function fits(schema: ArgumentSchema, value: unknown): boolean {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (schema.type === 'integer') return Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum;
  return typeof value === schema.type && (schema.enum?.includes(value as string) ?? true);
}

function wanted(schema: ArgumentSchema | undefined): string {
  if (schema?.enum) return `one of ${schema.enum.map((value) => JSON.stringify(value)).join(', ')}`;
  if (schema?.type === 'integer') return `an integer${boundsOf(schema)}`;
  return schema?.type === 'boolean' ? 'true or false' : 'a string';
}

function boundsOf({ minimum, maximum }: ArgumentSchema): string {
  if (minimum === undefined) return '';
  return maximum === undefined ? ` of ${minimum} or more` : ` from ${minimum} to ${maximum}`;
}

/* The arguments that several tools have. */

export const cellIndex: ArgumentSchema = {
  type: 'integer',
  minimum: 0,
  description: 'Place in the notebook, from 0; beyond the end means last.',
};

export const newCellIndex: ArgumentSchema = { ...cellIndex, description: 'Place of the new cell, from 0. Default: the end.' };

export const cellId: ArgumentSchema = { type: 'string', description: 'As get_cells or an add tool gave it.' };

export const expectedRev: ArgumentSchema = {
  type: 'integer',
  minimum: 0,
  description: 'The "rev" of get_cells: refused, with the cell as it is now, if it has another. Default: as you last read or wrote it.',
};
