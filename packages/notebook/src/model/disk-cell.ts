import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { CellContent, CellType } from './cell.js';
import { compareCodePoints, keysOf, toObject, toPlainNumber } from './json.js';
import type { MimeBundle, Output } from './output.js';
import { joinAttachments, type SplitText, splitAttachments, splitOutput } from './outputs.js';
import { isJsonMimeType, toLines, toText } from './text.js';

/** The keys of a cell in a file, sorted as nbformat does. */
export function diskKeysOf({ type, attachments, extra = {} }: CellContent, hasId: boolean): string[] {
  const ran = type === 'code' ? ['execution_count', 'outputs'] : [];
  const more = [...(hasId ? ['id'] : []), ...(attachments ? ['attachments'] : []), ...keysOf(extra)];
  return [...new Set(['cell_type', 'metadata', 'source', ...ran, ...more])].sort(compareCodePoints);
}

/** What a cell has under a key of a file, with texts as single strings. */
export function memberOf(cell: CellContent, key: string): unknown {
  if (key === 'id' || key === 'source' || key === 'metadata') return cell[key];
  if (key === 'cell_type') return cell.type;
  if (key === 'outputs' && cell.type === 'code') return cell.outputs;
  if (key === 'execution_count' && cell.type === 'code') return cell.executionCount;
  if (key === 'attachments' && cell.attachments) return cell.attachments;
  return cell.extra?.[key];
}

/** The same as the file has it. */
export function diskValue(cell: CellContent, key: string, split: SplitText): unknown {
  const value = memberOf(cell, key);
  if (key === 'source') return split(cell.source);
  if (value === cell.outputs) return cell.outputs.map((output: Output) => splitOutput(output, split));
  if (value === cell.attachments) return splitAttachments(value as { [name: string]: MimeBundle }, split);
  return value;
}

/** The whole cell as nbformat writes it. */
export function toDiskCell(cell: CellContent): JsonObject {
  return Object.fromEntries(diskKeysOf(cell, true).map((key) => [key, diskValue(cell, key, toLines)]));
}

/**
 * A cell of a file as a document keeps it, without an id of its own. Whatever Jupyter shows is taken: what is missing or of a wrong kind
 * becomes the least that a cell needs, and the file keeps it as it is until somebody changes it.
 */
export function toCell(cell: JsonObject): Omit<CellContent, 'id'> {
  const type = typeOf(cell.cell_type);
  const isCode = type === 'code';
  const known = ['id', 'cell_type', 'source', 'metadata', ...(isCode ? ['outputs', 'execution_count'] : ['attachments'])];
  return {
    type,
    source: textOf(cell.source),
    // Trust must never come from a file.
    metadata: without(objectOf(cell.metadata), ['trusted']),
    ...(isJsonObject(cell.attachments) && !isCode ? { attachments: joinAttachments(withBundles(cell.attachments)) } : {}),
    outputs: isCode && Array.isArray(cell.outputs) ? cell.outputs.flatMap(toOutput) : [],
    executionCount: isCode ? countOf(cell.execution_count) : null,
    ...othersOf(cell, known),
  };
}

/** The members of an object that are not named, if there are any. */
export function othersOf(object: JsonObject, known: readonly string[]): { extra?: JsonObject } {
  const extra = without(object, known);
  return keysOf(extra).length === 0 ? {} : { extra };
}

export function without(object: JsonObject, keys: readonly string[]): JsonObject {
  if (!keys.some((key) => Object.hasOwn(object, key))) return object;
  return toObject(keysOf(object).flatMap((key) => (keys.includes(key) ? [] : [[key, object[key]] as const])));
}

export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Unknown types are raw cells, as in JupyterLab. */
function typeOf(value: unknown): CellType {
  return value === 'code' || value === 'markdown' ? value : 'raw';
}

/** One that no notebook program shows is left out. */
function toOutput(output: unknown): Output[] {
  if (!isJsonObject(output)) return [];
  const type = output.output_type;
  if (type === 'stream') return [completed(output, { name: nameOf(output.name), text: textOf(output.text) })];
  if (type === 'error') {
    const traceback = Array.isArray(output.traceback) ? output.traceback.map(String) : textOf(output.traceback).split('\n');
    return [completed(output, { ename: textOf(output.ename), evalue: textOf(output.evalue), traceback })];
  }
  if (type !== 'display_data' && type !== 'execute_result') return [];
  const count = type === 'execute_result' ? { execution_count: countOf(output.execution_count) } : {};
  return [completed(output, { data: toBundle(output.data), metadata: objectOf(output.metadata), ...count })];
}

/** Its keys in their order, with these values, and those that it lacks behind them. */
function completed(output: JsonObject, values: JsonObject): Output {
  const missing = Object.keys(values).filter((key) => !Object.hasOwn(output, key));
  const entry = (key: string) => [key, Object.hasOwn(values, key) ? values[key] : output[key]] as const;
  return toObject([...keysOf(output), ...missing].map(entry)) as Output;
}

function withBundles(attachments: JsonObject): JsonObject {
  return toObject(keysOf(attachments).map((key) => [key, toBundle(attachments[key])] as const));
}

/** Texts as texts; JSON types hold anything. */
function toBundle(value: unknown): MimeBundle {
  const bundle = objectOf(value);
  return toObject(keysOf(bundle).map((type) => [type, isJsonMimeType(type) ? bundle[type] : textOf(bundle[type])] as const));
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? value : 'stdout';
}

function countOf(value: unknown): number | null {
  const count = toPlainNumber(value);
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : null;
}

/** A text of nbformat, which may be a list of lines; of anything else its JSON, nothing of what is missing. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return toText(value.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))));
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
