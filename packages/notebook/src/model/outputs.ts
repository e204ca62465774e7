import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { compareCodePoints, keysOf, toCanonical, toObject } from './json.js';
import { SchemaFault, schemaOf } from './nbformat-schema.js';
import type { MimeBundle, Output } from './output.js';
import { isJsonMimeType, toLines, toText } from './text.js';

/** A schema that lets unknown keys pass, since they are dropped anyway. */
const futureMinor = 6;

/** What nbformat keeps of each kind of output; what a kernel sends beyond it (`transient`) is not for the file. */
const keptKeys: { readonly [type in Output['output_type']]: readonly string[] } = {
  stream: ['name', 'output_type', 'text'],
  display_data: ['data', 'metadata', 'output_type'],
  execute_result: ['data', 'execution_count', 'metadata', 'output_type'],
  error: ['ename', 'evalue', 'output_type', 'traceback'],
};

/**
 * An output of a kernel as a document keeps it: known keys, sorted, texts joined. What no notebook could hold becomes an error
 * output that says so, because a run shall not fail for it.
 */
export function fromKernel(output: Output): Output {
  try {
    schemaOf(futureMinor).output(output, []);
    const kept = keptKeys[output.output_type].map((key) => [key, toCanonical(output[key])] as const);
    return joinOutput(toObject(kept));
  } catch (error) {
    if (error instanceof SchemaFault) return badOutput([...error.path, error.message].join(' '));
    if (error instanceof RangeError) return badOutput(error.message);
    throw error;
  }
}

function badOutput(fault: string): Output {
  return { output_type: 'error', ename: 'BadOutputError', evalue: `The kernel sent an output that is none: ${fault}.`, traceback: [] };
}

/** From disk to memory: lists of lines become texts. The value has passed the schema. */
export function joinOutput(output: JsonObject): Output {
  if (output.output_type === 'stream') return withValues(output, { text: toText(output.text as string | string[]) }) as Output;
  if (isJsonObject(output.data)) return withValues(output, { data: joinBundle(output.data) }) as Output;
  return output as Output;
}

/** How a file keeps texts: as one string, or as a list of lines. */
export type SplitText = (text: string) => string | string[];

/** From memory to disk: keys in nbformat's order. */
export function splitOutput(output: Output, split: SplitText = toLines): JsonObject {
  const sorted = sortTop(output);
  if (output.output_type === 'stream') return withValues(sorted, { text: split(toText(output.text)) });
  if (output.output_type === 'error') return sorted;
  return withValues(sorted, { data: splitBundle(output.data, split) });
}

/** Bundles of text cells' attachments, by file name. */
export function joinAttachments(attachments: JsonObject): JsonObject {
  return mapValues(attachments, (bundle) => joinBundle(bundle as MimeBundle));
}

export function splitAttachments(attachments: JsonObject, split: SplitText): JsonObject {
  return mapValues(attachments, (bundle) => splitBundle(bundle as MimeBundle, split));
}

/** The same object with other values for some of its keys; key order stays. */
export function withValues(object: JsonObject, values: JsonObject): JsonObject {
  return mapValues(object, (value, key) => (Object.hasOwn(values, key) ? values[key] : value));
}

/** Only the keys of the object itself; what is inside keeps its order. */
export function sortTop(object: JsonObject): JsonObject {
  return toObject([...keysOf(object)].sort(compareCodePoints).map((key) => [key, object[key]] as const));
}

/** The model of the widget that a mime bundle shows; undefined for any other output. */
export function widgetIdOf(bundle: MimeBundle): string | undefined {
  const view = bundle['application/vnd.jupyter.widget-view+json'];
  return isJsonObject(view) && typeof view.model_id === 'string' ? view.model_id : undefined;
}

function joinBundle(bundle: MimeBundle): MimeBundle {
  return mapValues(bundle, (data, type) => (Array.isArray(data) && !isJsonMimeType(type) ? toText(data) : data));
}

function splitBundle(bundle: MimeBundle, split: SplitText): MimeBundle {
  const isSplit = (type: string) => type.startsWith('text/') || type === 'application/javascript' || type === 'image/svg+xml';
  return mapValues(bundle, (data, type) => (typeof data === 'string' && isSplit(type) ? split(data) : data));
}

function mapValues(object: JsonObject, change: (value: unknown, key: string) => unknown): JsonObject {
  return toObject(keysOf(object).map((key) => [key, change(object[key], key)] as const));
}
