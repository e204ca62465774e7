import { createHash } from 'node:crypto';
import { printJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import { type CleanSchema, cleanSchema } from './clean-schema.js';

export interface SchemaTypes {
  /** Declarations, of which one is named as asked for. */
  text: string;
  losses: string[];
}

export interface SchemaTypesOptions {
  /** The name of the type; the names of what it is made of begin with `prefix`. */
  name: string;
  prefix: string;
  /** What references in the schema point into. Default: the schema. */
  root?: unknown;
}

/** Tools come back at each renewal, and few of them have changed. */
const maxKept = 20_000;
const kept = new Map<string, Promise<SchemaTypes>>();

/** The TypeScript of a schema. The same schema is compiled once. Never rejects: what cannot be typed is `unknown`, and reported. */
export function schemaTypes(schema: unknown, options: SchemaTypesOptions): Promise<SchemaTypes> {
  let key: string;
  let clean: CleanSchema;
  try {
    clean = cleanSchema(schema, { root: options.root ?? schema, prefix: options.prefix });
    key = createHash('sha256')
      .update(printJson([options.name, clean]))
      .digest('base64');
  } catch {
    return Promise.resolve(untyped(options.name, 'it is nested too deeply'));
  }
  const known = kept.get(key) ?? compileTypes(clean, options.name);
  keepLatest(kept, [key, known], maxKept);
  return known;
}

async function compileTypes({ schema, losses }: CleanSchema, name: string): Promise<SchemaTypes> {
  try {
    const { compile } = await import('json-schema-to-typescript');
    const text = await compile(schema as JsonObject, name, {
      additionalProperties: false,
      bannerComment: '',
      cwd: '/',
      declareExternallyReferenced: true,
      enableConstEnums: false,
      format: false,
      ignoreMinAndMaxItems: true,
      unknownAny: true,
      unreachableDefinitions: false,
      // References outside were taken out; if one were left, it is not followed.
      $refOptions: { resolve: { external: false, file: false, http: false } },
    });
    if (!new RegExp(`^export (interface|type) ${name}\\b`, 'm').test(text)) return untyped(name, 'its type has no name');
    return { text: text.trim(), losses };
  } catch {
    return untyped(name, 'the compiler of types does not know what it means');
  }
}

function untyped(name: string, why: string): SchemaTypes {
  return { text: `export type ${name} = { [key: string]: unknown }`, losses: [why] };
}
