import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { CellContent, CellType, Notebook } from '../model/cell.js';
import type { DocumentEvent } from '../model/document.js';
import { isSameJson } from '../model/json.js';
import type { Output } from '../model/output.js';
import type { OutputEdit } from '../model/output-log.js';
import { fromKernel, joinAttachments, joinOutput } from '../model/outputs.js';
import { toText } from '../model/text.js';
import { editText } from './edit-text.js';
import * as Y from './yjs.js';

/** A cell as jupyter-collaboration's documents have it: https://github.com/jupyter-server/jupyter_ydoc, `YNotebook`. */
export type SharedCell = Y.Map<unknown>;

const knownKeys = new Set(['id', 'cell_type', 'source', 'metadata', 'attachments', 'outputs', 'execution_count', 'execution_state']);

export function sharedCellsOf(document: Y.Doc): Y.Array<SharedCell> {
  return document.getArray<SharedCell>('cells');
}

export function sharedMetaOf(document: Y.Doc): Y.Map<unknown> {
  return document.getMap('meta');
}

export function readSharedNotebook(document: Y.Doc): Notebook {
  const meta = sharedMetaOf(document);
  const metadata = toPlain(meta.get('metadata'));
  const minor = Number(meta.get('nbformat_minor') ?? 5);
  return {
    metadata: isJsonObject(metadata) ? metadata : {},
    // Cells have ids in the room even where the file has none.
    minor: Math.max(5, minor),
    cells: sharedCellsOf(document).map((cell) => readSharedCell(cell)),
  };
}

export function readSharedCell(cell: SharedCell): CellContent {
  const type = toCellType(cell.get('cell_type'));
  const metadata = toPlain(cell.get('metadata'));
  const attachments = toPlain(cell.get('attachments'));
  const hasAttachments = type !== 'code' && isJsonObject(attachments) && Object.keys(attachments).length > 0;
  const count = cell.get('execution_count');
  const extra = Object.fromEntries([...cell.entries()].filter(([key]) => !knownKeys.has(key)).map(([key, value]) => [key, toPlain(value)]));
  return {
    id: String(cell.get('id')),
    type,
    source: String(cell.get('source') ?? ''),
    metadata: isJsonObject(metadata) ? metadata : {},
    ...(hasAttachments ? { attachments: joinAttachments(attachments) } : {}),
    outputs: type === 'code' ? readOutputs(cell) : [],
    executionCount: type === 'code' && typeof count === 'number' ? count : null,
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}

/** Does to a room's document what was done to ours, by as little as possible. To be called in a transaction. */
export function applyToShared(document: Y.Doc, { change: { op }, after }: DocumentEvent): void {
  if (op.type === 'setMetadata' && op.id === undefined) return editNotebookMetadata(document, op.metadata);
  const id = op.type === 'insert' || op.type === 'restore' ? op.cell.id : (op.id ?? '');
  const cells = sharedCellsOf(document);
  const at = placeInRoom(cells, id);
  if (op.type === 'delete') return at === -1 ? undefined : cells.delete(at, 1);
  if (!after) return;
  const place = { cells, at, cell: after.cell, previousId: after.previousId };
  if (at === -1) return insert(place);
  const shared = cells.get(at);
  switch (op.type) {
    case 'insert':
    case 'restore':
    case 'setType':
      if (shared.get('cell_type') === after.cell.type) bringSharedCell(shared, after.cell);
      else return exchange(place);
      return move(place);
    case 'move':
      return move(place);
    case 'update':
      return editSource(shared, op.source);
    case 'setMetadata':
      return editMetadata(shared.get('metadata'), op.metadata);
    case 'setOutputs':
      setSharedOutputs(shared, after.cell.outputs);
      return setExecutionCount(shared, op.executionCount);
    case 'setExecutionCount':
      return setExecutionCount(shared, op.executionCount);
    case 'editOutputs':
      return editSharedOutputs(shared, op.edit);
  }
}

/** Brings a room's whole document to a notebook. To be called in a transaction. */
export function bringShared(document: Y.Doc, { cells: target, metadata }: Notebook): void {
  const cells = sharedCellsOf(document);
  const wanted = new Set(target.map(({ id }) => id));
  for (let at = cells.length - 1; at >= 0; at--) if (!wanted.has(String(cells.get(at).get('id')))) cells.delete(at, 1);
  target.forEach((cell, index) => {
    const place = { cells, at: placeInRoom(cells, cell.id), cell, previousId: target[index - 1]?.id };
    const shared = place.at === -1 ? undefined : cells.get(place.at);
    if (shared && shared.get('cell_type') !== cell.type) cells.delete(place.at, 1);
    if (shared?.get('cell_type') === cell.type) {
      bringSharedCell(shared, cell);
      move(place);
    } else insert(place);
  });
  editNotebookMetadata(document, metadata);
}

/** Gives each cell whose id another one has a new one, as the server would when it saves. Returns whether there was any. */
export function separateIds(document: Y.Doc, createId: () => string): boolean {
  const seen = new Set<unknown>();
  const doubled = sharedCellsOf(document)
    .toArray()
    .filter((cell) => {
      const id = cell.get('id');
      const isFirst = typeof id === 'string' && !seen.has(id);
      seen.add(id);
      return !isFirst;
    });
  for (const cell of doubled) cell.set('id', createId());
  return doubled.length > 0;
}

export function placeInRoom(cells: Y.Array<SharedCell>, id: string): number {
  return cells.toArray().findIndex((cell) => cell.get('id') === id);
}

interface Place {
  cells: Y.Array<SharedCell>;
  at: number;
  cell: CellContent;
  previousId: string | undefined;
}

/** Behind the cell that comes before it: that cell stands where the room has it, whatever others do meanwhile. */
function insert({ cells, cell, previousId }: Place): void {
  cells.insert(previousId === undefined ? 0 : placeInRoom(cells, previousId) + 1, [createSharedCell(cell)]);
}

/** A cell of another type is another cell, under the same id. */
function exchange(place: Place): void {
  place.cells.delete(place.at, 1);
  insert(place);
}

/** As Lab moves a cell: it has no other way than to take it out and put a copy in. */
function move({ cells, cell, previousId }: Place): void {
  const at = placeInRoom(cells, cell.id);
  const before = at === 0 ? undefined : cells.get(at - 1).get('id');
  if (before === previousId) return;
  const copy = cells.get(at).clone();
  cells.delete(at, 1);
  cells.insert(previousId === undefined ? 0 : placeInRoom(cells, previousId) + 1, [copy]);
}

function editNotebookMetadata(document: Y.Doc, metadata: Notebook['metadata']): void {
  const meta = sharedMetaOf(document);
  const shared = meta.get('metadata');
  if (shared instanceof Y.Map) editMetadata(shared, metadata);
  else if (!isSameJson(shared ?? {}, metadata)) meta.set('metadata', new Y.Map(Object.entries(metadata)));
}

function createSharedCell(cell: CellContent): SharedCell {
  const { id, type, source, metadata, attachments, extra = {} } = cell;
  const shared: SharedCell = new Y.Map();
  for (const [key, value] of Object.entries(extra)) shared.set(key, value);
  shared.set('id', id);
  shared.set('cell_type', type);
  shared.set('source', new Y.Text(source));
  shared.set('metadata', new Y.Map(Object.entries(metadata)));
  if (type !== 'code') {
    if (attachments) shared.set('attachments', attachments);
    return shared;
  }
  shared.set('execution_count', cell.executionCount);
  shared.set('execution_state', 'idle');
  shared.set('outputs', Y.Array.from(cell.outputs.map(toSharedOutput)));
  return shared;
}

/** Brings a cell of the room to what it shall be; what is the same is not touched. Its type cannot change. */
function bringSharedCell(shared: SharedCell, to: CellContent): void {
  const from = readSharedCell(shared);
  editSource(shared, to.source);
  if (!isSameJson(from.metadata, to.metadata)) editMetadata(shared.get('metadata'), to.metadata);
  if (!isSameJson(from.attachments ?? {}, to.attachments ?? {})) shared.set('attachments', to.attachments ?? {});
  if (to.type !== 'code') return;
  if (!isSameJson(from.outputs, to.outputs)) setSharedOutputs(shared, to.outputs);
  setExecutionCount(shared, to.executionCount);
}

function editSource(shared: SharedCell, source: string): void {
  const text = shared.get('source');
  if (text instanceof Y.Text) editText(text, source);
  else shared.set('source', new Y.Text(source));
}

/** Key by key, so that what others change beside it stays. */
function editMetadata(shared: unknown, metadata: JsonObject): void {
  if (!(shared instanceof Y.Map)) return;
  for (const key of [...shared.keys()]) if (!Object.hasOwn(metadata, key)) shared.delete(key);
  for (const [key, value] of Object.entries(metadata)) if (!isSameJson(toPlain(shared.get(key)), value)) shared.set(key, value);
}

function setExecutionCount(shared: SharedCell, count: number | null): void {
  if (shared.get('execution_count') !== count) shared.set('execution_count', count);
}

function setSharedOutputs(shared: SharedCell, outputs: readonly Output[]): void {
  const list = outputsOf(shared);
  if (list.length > 0) list.delete(0, list.length);
  if (outputs.length > 0) list.push(outputs.map(toSharedOutput));
}

function editSharedOutputs(shared: SharedCell, edit: OutputEdit): void {
  const list = outputsOf(shared);
  if (edit.type === 'addOutput') return list.push([toSharedOutput(edit.output)]);
  const output = list.get(edit.index);
  if (output === undefined) return;
  if (edit.type === 'setOutput') return replaceOutput(list, edit.index, edit.output);
  const text = output instanceof Y.Map ? output.get('text') : undefined;
  if (text instanceof Y.Text) {
    if (edit.keep < text.length) text.delete(edit.keep, text.length - edit.keep);
    text.insert(edit.keep, edit.text);
  } else {
    const before = toText((toPlain(output) as { text?: string | string[] }).text ?? '');
    replaceOutput(list, edit.index, { ...(toPlain(output) as Output), text: before.slice(0, edit.keep) + edit.text } as Output);
  }
}

function replaceOutput(list: Y.Array<unknown>, index: number, output: Output): void {
  list.delete(index, 1);
  list.insert(index, [toSharedOutput(output)]);
}

function outputsOf(shared: SharedCell): Y.Array<unknown> {
  const list = shared.get('outputs');
  if (list instanceof Y.Array) return list;
  const made = new Y.Array<unknown>();
  shared.set('outputs', made);
  return made;
}

/** Printed text is a text that grows, as Lab writes it; the rest are plain values. */
function toSharedOutput(output: Output): Y.Map<unknown> {
  const entries = Object.entries(output);
  if (output.output_type !== 'stream') return new Y.Map(entries);
  return new Y.Map(entries.map(([key, value]) => [key, key === 'text' ? new Y.Text(toText(value as string)) : value]));
}

function readOutputs(cell: SharedCell): Output[] {
  const outputs = toPlain(cell.get('outputs'));
  return Array.isArray(outputs) ? outputs.filter(isJsonObject).map((output) => joinOutput(fromKernel(output as Output))) : [];
}

function toPlain(value: unknown): unknown {
  return value instanceof Y.AbstractType ? value.toJSON() : value;
}

function toCellType(type: unknown): CellType {
  return type === 'code' || type === 'markdown' ? type : 'raw';
}
