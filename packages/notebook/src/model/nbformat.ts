import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import type { CellContent, CellType, Notebook } from './cell.js';
import { deriveCellId } from './cell-ids.js';
import { NotebookError } from './errors.js';
import { keysOf, toObject } from './json.js';
import { PrintedJson, printNotebookJson } from './json-printer.js';
import { type JsonPath, JsonSyntaxError, offsetOf, parseNotebookJson, pathText, placeOf } from './json-reader.js';
import { schemaOf } from './nbformat-schema.js';
import { joinAttachments, joinOutput, sortTop, splitAttachments, splitOutput } from './outputs.js';
import { describeValue, SchemaFault } from './schema-check.js';
import { bytesText, toLines, toText, utf8Length } from './text.js';

export interface NotebookLimits {
  /** Bytes of the file. Default 100 MiB. */
  maxBytes?: number;
  /** Default 10,000. */
  maxCells?: number;
}

export interface ParsedNotebook {
  notebook: Notebook;
  /** What had to be fixed, in words; a notebook without an entry prints as nbformat would write the file. */
  mended: readonly string[];
}

export const defaultNotebookLimits = { maxBytes: 100 * 1024 * 1024, maxCells: 10_000 };

const currentMinor = 5;
const convertAdvice = 'Convert it first: jupyter nbconvert --to notebook --nbformat 4 FILE.';

/**
 * Reads a notebook file of nbformat 4. Throws `NotebookError` with `bad_notebook` for what Python's nbformat refuses, with
 * `data.path`, `data.line` and `data.column`; with `too_large` for what is beyond the limits.
 */
export function parseNotebook(text: string, limits: NotebookLimits = {}): ParsedNotebook {
  const { maxBytes, maxCells } = { ...defaultNotebookLimits, ...limits };
  const bytes = text.length > maxBytes ? text.length : utf8Length(text);
  if (bytes > maxBytes) throw new NotebookError('too_large', `The notebook has ${bytesText(bytes)}; ${bytesText(maxBytes)} are allowed.`);
  const root = parseText(text);
  try {
    return toNotebook(root, maxCells);
  } catch (error) {
    throw error instanceof SchemaFault ? badNotebook(text, error.path, error.message, error) : error;
  }
}

/** The text of the notebook's file, as Python's nbformat writes it: sorted keys, indent 1, texts as lines, a line break at the end. */
export function printNotebook(notebook: Notebook): string {
  const { metadata, minor, cells, extra } = notebook;
  return `${printNotebookJson(sortTop({ ...extra, metadata, nbformat: 4, nbformat_minor: minor, cells: cells.map(printCell) }))}\n`;
}

/** Cells never change, new ones take their place: one that has been printed need not be printed again with every save. */
const printedCells = new WeakMap<CellContent, PrintedJson>();
/** Longer ones are not kept: their text would be held twice. */
const maxKeptCharacters = 10_000;

function printCell(cell: CellContent): PrintedJson {
  const known = printedCells.get(cell);
  if (known) return known;
  const printed = new PrintedJson(printNotebookJson(toDiskCell(cell), 2));
  if (printed.text.length <= maxKeptCharacters) printedCells.set(cell, printed);
  return printed;
}

/** The cell as a file has it. */
function toDiskCell(cell: CellContent): JsonObject {
  const { id, type, source, metadata, attachments, outputs, executionCount, extra } = cell;
  const ran = type === 'code' ? { outputs: outputs.map(splitOutput), execution_count: executionCount } : {};
  const attached = attachments ? { attachments: splitAttachments(attachments) } : {};
  return sortTop({ ...extra, id, cell_type: type, source: toLines(source), metadata, ...attached, ...ran });
}

/** Throws `bad_cell` if nbformat would refuse a file with this cell. */
export function assertCell(cell: CellContent, minor: number): void {
  assertValid(() => schemaOf(minor).cell(toDiskCell(cell), []), `The cell "${cell.id}"`);
}

/** Throws `bad_cell` if nbformat would refuse a file with this metadata. */
export function assertMetadata(metadata: JsonObject, minor: number): void {
  assertValid(() => schemaOf(minor).metadata(metadata, ['metadata']), 'The notebook');
}

function assertValid(check: () => void, what: string): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    const path = pathText(error.path);
    throw new NotebookError('bad_cell', `${what} would not be valid: ${path} ${error.message}.`, { data: { path } });
  }
}

function parseText(text: string): unknown {
  if (text.startsWith('\ufeff')) {
    throw new NotebookError('bad_notebook', 'The notebook begins with a byte order mark; save it as UTF-8 without one.');
  }
  try {
    return parseNotebookJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const { line, column } = placeOf(text, error.offset);
    const place = `line ${line}, column ${column}`;
    throw new NotebookError('bad_notebook', whyNotJson(text, `${place}: ${error.message}`), { data: { line, column }, cause: error });
  }
}

/** With what to do about it: these are the two ways in which notebooks are commonly broken, besides a file that never was one. */
function whyNotJson(text: string, found: string): string {
  if (text.trim() === '') return 'The notebook is empty. Delete the file, or name another one: a new notebook is made where there is none.';
  if (/^<{7} /m.test(text))
    return `The notebook is not JSON: ${found}. It has the marks of an unfinished git merge ("<<<<<<<"): finish that, or take one side with "git checkout --ours" or "--theirs".`;
  return `The notebook is not JSON: ${found}. Fix that place, restore the file from a copy, or name another file if it never was a notebook.`;
}

function badNotebook(text: string, path: JsonPath, message: string, cause: unknown): NotebookError {
  const { line, column } = placeOf(text, offsetOf(text, path));
  const place = path.length === 0 ? 'the notebook' : pathText(path);
  return new NotebookError('bad_notebook', `Not a valid notebook: line ${line}: ${place} ${message}.`, {
    data: { path: pathText(path), line, column },
    cause,
  });
}

function toNotebook(root: unknown, maxCells: number): ParsedNotebook {
  const minor = readVersion(root);
  const file = root as JsonObject;
  const count = Array.isArray(file.cells) ? file.cells.length : 0;
  if (count > maxCells) throw new NotebookError('too_large', `The notebook has ${count} cells; ${maxCells} are allowed.`);
  const mended: string[] = [];
  const upgraded = addIds(stripTransient(file), minor, mended);
  schemaOf(minor).notebook(upgraded, []);
  if (minor < currentMinor) mended.push(`raised from nbformat 4.${minor} to 4.${currentMinor}`);
  const extra = othersOf(upgraded, ['metadata', 'nbformat', 'nbformat_minor', 'cells']);
  const cells = (upgraded.cells as JsonObject[]).map(toCell);
  return { notebook: { metadata: upgraded.metadata as JsonObject, minor: Math.max(minor, currentMinor), cells, ...extra }, mended };
}

/** The minor version of an nbformat 4 file; throws for everything else, in words for a person who opened the wrong file. */
function readVersion(root: unknown): number {
  if (!isJsonObject(root)) throw new SchemaFault([], `has to be an object, and is ${describeValue(root)}`);
  if (!Object.hasOwn(root, 'nbformat')) throw new SchemaFault([], 'lacks "nbformat", so this is no notebook, or one of nbformat 1');
  const { nbformat, nbformat_minor: minor } = root;
  if (nbformat === 1 || nbformat === 2 || nbformat === 3)
    throw new SchemaFault(['nbformat'], `is ${nbformat}, and only 4 is read. ${convertAdvice.slice(0, -1)}`);
  if (nbformat !== 4) throw new SchemaFault(['nbformat'], `has to be 4, and is ${describeValue(nbformat)}`);
  if (minor === undefined) throw new SchemaFault([], 'lacks "nbformat_minor"');
  if (!Number.isSafeInteger(minor) || (minor as number) < 0)
    throw new SchemaFault(['nbformat_minor'], `has to be an integer of 0 or more, and is ${describeValue(minor)}`);
  return minor as number;
}

/** What nbformat drops on reading and writing: it belongs to a session, and `trusted` must never come from a file. */
function stripTransient(file: JsonObject): JsonObject {
  const cells = Array.isArray(file.cells) ? file.cells.map((cell) => strip(cell, ['trusted'])) : file.cells;
  return replace(strip(file, ['orig_nbformat', 'orig_nbformat_minor', 'signature']), 'cells', cells);
}

/** Takes keys out of the metadata, where there are any. */
function strip<T>(holder: T, keys: readonly string[]): T {
  if (!isJsonObject(holder) || !isJsonObject(holder.metadata)) return holder;
  return replace(holder, 'metadata', without(holder.metadata, keys)) as T;
}

/** Ids for cells that have none, and other ids where two cells have the same, as nbformat does when it validates. */
function addIds(file: JsonObject, minor: number, mended: string[]): JsonObject {
  if (!Array.isArray(file.cells)) return file;
  const taken = new Set(file.cells.map((cell) => (isJsonObject(cell) ? cell.id : undefined)));
  const seen = new Set<unknown>();
  const cells = file.cells.map((cell: unknown, index: number) => {
    if (!isJsonObject(cell)) return cell;
    if (minor < currentMinor && Object.hasOwn(cell, 'id')) {
      throw new SchemaFault(['cells', index, 'id'], `is a key of nbformat 4.5, and the file says 4.${minor}; set "nbformat_minor" to 5`);
    }
    const hasId = Object.hasOwn(cell, 'id');
    if (hasId && !seen.has(cell.id)) {
      seen.add(cell.id);
      return cell;
    }
    const id = deriveCellId(`${index}:${cell.cell_type}:${toSeed(cell.source)}`, (candidate) => taken.has(candidate));
    taken.add(id);
    if (minor >= currentMinor) mended.push(`cells[${index}] got a new id, because ${hasId ? 'another cell has the same' : 'it had none'}`);
    return replace(cell, 'id', id);
  });
  return replace(file, 'cells', cells);
}

function toSeed(source: unknown): string {
  return Array.isArray(source) ? source.join('') : String(source);
}

/** From disk to memory; the cell has passed the schema. */
function toCell(cell: JsonObject): CellContent {
  const isCode = cell.cell_type === 'code';
  return {
    id: cell.id as string,
    type: cell.cell_type as CellType,
    source: toText(cell.source as string | string[]),
    metadata: cell.metadata as JsonObject,
    ...(isJsonObject(cell.attachments) && !isCode ? { attachments: joinAttachments(cell.attachments) } : {}),
    outputs: isCode ? (cell.outputs as JsonObject[]).map(joinOutput) : [],
    executionCount: isCode ? (cell.execution_count as number | null) : null,
    ...othersOf(cell, ['id', 'cell_type', 'source', 'metadata', ...(isCode ? ['outputs', 'execution_count'] : ['attachments'])]),
  };
}

/** The members that the schema does not know, if there are any. */
function othersOf(object: JsonObject, known: readonly string[]): { extra?: JsonObject } {
  const extra = without(object, known);
  return keysOf(extra).length === 0 ? {} : { extra };
}

function without(object: JsonObject, keys: readonly string[]): JsonObject {
  if (!keys.some((key) => Object.hasOwn(object, key))) return object;
  return toObject(keysOf(object).flatMap((key) => (keys.includes(key) ? [] : [[key, object[key]] as const])));
}

/** The same object with another value for one key; a value that is undefined leaves a missing key missing. */
function replace(object: JsonObject, key: string, value: unknown): JsonObject {
  if (object[key] === value) return object;
  return toObject([
    ...keysOf(object).map((name) => [name, name === key ? value : object[name]] as const),
    ...(Object.hasOwn(object, key) ? [] : [[key, value] as const]),
  ]);
}
