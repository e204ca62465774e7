import { BridgeError } from '@notebridge/protocol/core/errors';

/** One value of a query. JSON Schema: the description shows it. */
export interface QueryPart {
  description: string;
  schema: { type: 'string'; enum?: readonly string[] } | { type: 'integer'; minimum: number; maximum: number };
}

export const word = (description: string, ...names: string[]) => ({
  description,
  schema: { type: 'string' as const, ...(names.length > 0 && { enum: names }) },
});
export const boundedNumber = (description: string, minimum: number, maximum: number) => ({
  description,
  schema: { type: 'integer' as const, minimum, maximum },
});

type Read<Parts extends { readonly [name: string]: QueryPart }> = {
  -readonly [Name in keyof Parts]?: Parts[Name]['schema']['type'] extends 'integer' ? number : string;
};

/** A query by its parts; of a name that comes twice the last one. @throws BridgeError `bad_params`. */
export function readQuery<Parts extends { readonly [name: string]: QueryPart }>(query: URLSearchParams, parts: Parts): Read<Parts> {
  const read: { [name: string]: string | number } = {};
  for (const [name, value] of query) {
    const schema = Object.hasOwn(parts, name) ? parts[name]?.schema : undefined;
    if (schema === undefined)
      throw new BridgeError('bad_params', `There is no ${JSON.stringify(name)}; there are ${Object.keys(parts).join(', ')}.`);
    read[name] = schema.type === 'integer' ? toNumber(name, value, schema) : value;
  }
  return read as Read<Parts>;
}

/** A number of a query. @throws BridgeError `bad_params`. */
export function toNumber(name: string, value: string, { minimum, maximum }: { minimum: number; maximum: number }): number {
  const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  throw new BridgeError('bad_params', `"${name}" is ${JSON.stringify(value)}; it must be a whole number from ${minimum} to ${maximum}.`);
}
