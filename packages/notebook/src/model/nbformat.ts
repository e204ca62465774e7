import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { type CellContent, emptyNotebook, type Notebook } from './cell.js';
import { giveIds, type KnownCell } from './cell-ids.js';
import { objectOf, othersOf, toCell, toDiskCell, without } from './disk-cell.js';
import { NotebookError } from './errors.js';
import { FileForm } from './file-form.js';
import { toPlainNumber } from './json.js';
import { type JsonPath, JsonSyntaxError, offsetOf, parseNotebookJson, pathText, placeOf } from './json-reader.js';
import { type ThinText, takeOutLongStrings } from './long-strings.js';
import { upgradeNotebook } from './nbformat-3.js';
import { describeValue, SchemaFault, schemaOf } from './nbformat-schema.js';
import { bytesText } from './text.js';

export interface NotebookLimits {
  /** Bytes of the file. Default 100 MiB. */
  maxBytes?: number;
  /** Default 10,000. */
  maxCells?: number;
}

export interface ParsedNotebook {
  notebook: Notebook;
  /** What nbformat finds wrong with the file, and what it was converted from, in words. It was read all the same. */
  mended: readonly string[];
}

/** A file of a notebook, read. */
export interface ReadNotebook extends ParsedNotebook {
  /** Writes it again. */
  form: FileForm;
  /** A file of nbformat 2 or 3, which will be written as one of 4. */
  old: { readonly nbformat: number; readonly bytes: Uint8Array } | undefined;
}

interface ReadOptions {
  limits?: NotebookLimits | undefined;
  /** The cells that the file had before, in their order: cells without an id keep the one that they had. */
  known?: readonly KnownCell[] | undefined;
}

export const defaultNotebookLimits = { maxBytes: 100 * 1024 * 1024, maxCells: 10_000 };

const idMinor = 5;
/** Of an id that is taken as it is; nbformat allows 64. */
const maxIdCharacters = 256;
const emptyForm = new FileForm(
  {
    bytes: new TextEncoder().encode('{\n "cells": [],\n "metadata": {},\n "nbformat": 4,\n "nbformat_minor": 5\n}\n'),
    strings: [],
  },
  emptyNotebook,
);

/**
 * Reads a notebook file of nbformat 2, 3 or 4: whatever Jupyter opens. Throws `NotebookError` with `bad_notebook` for what is no JSON or no
 * notebook, with `data.path`, `data.line` and `data.column`; with `too_large` for what is beyond the limits.
 */
export function readNotebook(bytes: Uint8Array, { limits = {}, known = [] }: ReadOptions = {}): ReadNotebook {
  assertSize(bytes.length, limits);
  const thin = takeOutLongStrings(bytes);
  const { notebook, mended, nbformat, givenIds } = parseThin(thin, bytes, { limits, known });
  if (nbformat !== 4) return { notebook, mended, form: emptyForm, old: { nbformat, bytes } };
  return { notebook, mended, form: new FileForm(thin, notebook, givenIds), old: undefined };
}

/** The same for a text, which is not to be written again. */
export function parseNotebook(text: string, limits: NotebookLimits = {}): ParsedNotebook {
  const { notebook, mended } = readNotebook(new TextEncoder().encode(text), { limits });
  return { notebook, mended };
}

/** The text of a new file, as Python's nbformat writes it: sorted keys, indent 1, texts as lines, a line break at the end. */
export function printNotebook(notebook: Notebook): string {
  return new TextDecoder().decode(emptyForm.print(notebook));
}

/** Throws `bad_cell` for what is no cell. Metadata may hold anything: so it may in files, and cells are copied. */
export function assertCell(cell: Omit<CellContent, 'id'>): void {
  const metadata = isJsonObject(cell.metadata) ? {} : cell.metadata;
  try {
    schemaOf(idMinor).cell({ ...toDiskCell({ ...cell, id: 'new' }), metadata }, []);
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    const path = pathText(error.path);
    throw new NotebookError('bad_cell', `The cell would not be valid: ${path} ${error.message}.`, { data: { path } });
  }
}

function assertSize(bytes: number, limits: NotebookLimits): void {
  const { maxBytes } = { ...defaultNotebookLimits, ...limits };
  if (bytes > maxBytes) throw new NotebookError('too_large', `The notebook has ${bytesText(bytes)}; ${bytesText(maxBytes)} are allowed.`);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new NotebookError('bad_notebook', 'The notebook is not UTF-8 text.', { cause });
  }
}

interface Parsed extends ParsedNotebook {
  nbformat: number;
  givenIds: ReadonlySet<string>;
}

function parseThin({ bytes, strings }: ThinText, whole: Uint8Array, options: ReadOptions): Parsed {
  try {
    return parse(decode(bytes), options, strings);
  } catch (error) {
    if (strings.length === 0) throw error;
    // The whole text says where in it the fault is.
    return parse(decode(whole), options);
  }
}

function parse(text: string, { limits = {}, known = [] }: ReadOptions, strings: readonly string[] = []): Parsed {
  const root = parseText(text, strings);
  try {
    return toNotebook(root, limits, known);
  } catch (error) {
    if (error instanceof RangeError)
      throw new NotebookError('bad_notebook', `Not a valid notebook: it ${error.message}.`, { cause: error });
    throw error instanceof SchemaFault ? badNotebook(text, error.path, error.message, error) : error;
  }
}

function toNotebook(root: unknown, limits: NotebookLimits, known: readonly KnownCell[]): Parsed {
  const { file, nbformat } = readVersion(root);
  const minor = minorOf(file.nbformat_minor);
  const found = cellsOf(file.cells, limits).map((cell) => ({ ...toCell(cell), id: undefined, fileId: cell.id }));
  const seen = new Set<unknown>();
  const own = found.map((cell) => {
    const isUsable = isId(cell.fileId) && !seen.has(cell.fileId);
    seen.add(cell.fileId);
    return { ...cell, id: isUsable ? (cell.fileId as string) : undefined };
  });
  const ids = giveIds(own, known);
  const cells = own.map(({ fileId: _, ...cell }, index) => ({ ...cell, id: ids[index] ?? '' }));
  const givenIds = new Set(ids.filter((_, index) => own[index]?.id === undefined));
  // What belongs to a session, as nbformat drops it.
  const metadata = without(objectOf(file.metadata), ['orig_nbformat', 'orig_nbformat_minor', 'signature']);
  const extra = othersOf(file, ['metadata', 'nbformat', 'nbformat_minor', 'cells']);
  const mended = nbformat === 4 ? faultsOf(file, minor, own) : [`converted from nbformat ${nbformat}`];
  return { notebook: { metadata, minor, cells, ...extra }, mended, nbformat, givenIds };
}

/** The file as one of nbformat 4; throws for everything that is no notebook, in words for a person who opened the wrong file. */
function readVersion(root: unknown): { file: JsonObject; nbformat: number } {
  if (!isJsonObject(root)) throw new SchemaFault([], `has to be an object, and is ${describeValue(root)}`);
  if (!Object.hasOwn(root, 'nbformat')) throw new SchemaFault([], 'lacks "nbformat", so this is no notebook, or one of nbformat 1');
  const nbformat = toPlainNumber(root.nbformat);
  if (nbformat === 2 || nbformat === 3) return { file: upgradeNotebook(root), nbformat };
  if (nbformat !== 4) throw new SchemaFault(['nbformat'], `has to be 2, 3 or 4, and is ${describeValue(root.nbformat)}`);
  return { file: root, nbformat };
}

/** A file that does not say is of the first. */
function minorOf(value: unknown): number {
  const minor = toPlainNumber(value);
  return Number.isSafeInteger(minor) && (minor as number) >= 0 ? (minor as number) : 0;
}

function cellsOf(cells: unknown, limits: NotebookLimits): JsonObject[] {
  const { maxCells } = { ...defaultNotebookLimits, ...limits };
  if (cells === undefined) throw new SchemaFault([], 'lacks "cells", so this is no notebook');
  if (!Array.isArray(cells)) throw new SchemaFault(['cells'], `has to be a list, and is ${describeValue(cells)}`);
  if (cells.length > maxCells) throw new NotebookError('too_large', `The notebook has ${cells.length} cells; ${maxCells} are allowed.`);
  const bad = cells.findIndex((cell) => !isJsonObject(cell));
  if (bad !== -1) throw new SchemaFault(['cells', bad], `has to be an object, and is ${describeValue(cells[bad])}`);
  return cells;
}

function isId(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= maxIdCharacters;
}

/** What nbformat would warn of: the first place that breaks its schema, and ids that stand twice. */
function faultsOf(file: JsonObject, minor: number, cells: readonly { id: string | undefined; fileId: unknown }[]): string[] {
  const faults: string[] = [];
  try {
    schemaOf(minor).notebook(file, []);
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    faults.push(`${error.path.length === 0 ? 'the notebook' : pathText(error.path)} ${error.message}`);
  }
  const again = minor < idMinor ? -1 : cells.findIndex(({ id, fileId }) => id === undefined && isId(fileId));
  if (again !== -1) faults.push(`cells[${again}] has the id of another cell`);
  return faults;
}

function parseText(text: string, strings: readonly string[]): unknown {
  try {
    return parseNotebookJson(text, strings);
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
