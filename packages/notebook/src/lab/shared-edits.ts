import type { CellContent, Notebook } from '../model/cell.js';
import type { DocumentEvent } from '../model/document.js';
import { isSameJson } from '../model/json.js';
import {
  bringSharedCell,
  createSharedCell,
  editMetadata,
  editSharedOutputs,
  editSource,
  type SharedCell,
  setExecutionCount,
  setSharedOutputs,
  sharedCellsOf,
  sharedMetaOf,
} from './shared-cells.js';
import * as Y from './yjs.js';

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
