import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { findFault } from './json-schema.js';

export type JsonSchema = JsonObject;

/** What we use of a Standard Schema, version 1 (https://standardschema.dev): Zod, Valibot, ArkType and many others make them. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

/** JSON Schema, or anything that validates and can say its JSON Schema. */
export type Schema<Output = unknown> = JsonSchema | StandardSchema<Output>;

/** Agents get JSON Schema, whatever the page validates with. */
const target = { target: 'draft-2020-12' };

/** The JSON Schema that agents get. Throws if a Standard Schema cannot provide it. */
export function toJsonSchema(schema: Schema | undefined, side: 'input' | 'output'): JsonSchema {
  // MCP requires the type of the root.
  if (schema === undefined) return { type: 'object' };
  if (!isStandardSchema(schema)) return { type: 'object', ...schema };
  const { '~standard': standard, toJSONSchema } = schema as StandardSchema & { toJSONSchema?: () => unknown };
  // The Standard JSON Schema of 2026 first; Zod has had the method for longer.
  const convert = (standard as { jsonSchema?: Record<string, (options: object) => unknown> }).jsonSchema?.[side];
  const converted = convert ? convert(target) : toJSONSchema?.call(schema);
  if (isJsonObject(converted)) return { type: 'object', ...converted };
  throw new TypeError(`a schema of ${standard.vendor} cannot say its JSON Schema; give it beside the schema, as "jsonSchema"`);
}

/** The arguments as the schema gives them (defaults filled in, if it does that). Throws what is wrong, in words for the agent. */
export async function parseArguments(schema: Schema | undefined, value: unknown): Promise<unknown> {
  if (schema === undefined || !isStandardSchema(schema)) {
    const fault = findFault({ type: 'object', ...schema }, value);
    if (fault !== undefined) throw new TypeError(fault);
    return value;
  }
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  throw new TypeError(result.issues.map(({ path, message }) => `"${toPathText(path)}": ${message}`).join('; '));
}

function isStandardSchema(schema: Schema): schema is StandardSchema {
  // ArkType's schemas are functions.
  return '~standard' in schema;
}

function toPathText(path: readonly unknown[] | undefined): string {
  return (path ?? []).map((part) => String(isJsonObject(part) ? part.key : part)).join('.');
}
