import type { Actor } from '../model/cell.js';
import type { NotebookDocument } from '../model/document.js';
import { assertCell } from '../model/nbformat.js';
import type { InsertedCell, InsertedCells, PastedCell, SourceUpdate, ViewerAction } from '../viewer/protocol.js';

/** What a person does with cells in one step. Each checks before it changes anything. */

export function pasteCells(
  document: NotebookDocument,
  { index, cells, by }: { index: number; cells: readonly PastedCell[]; by: Actor },
): InsertedCells {
  const pasted = cells.map(({ cellType: type, source, ...kept }) => {
    // A text cell has no outputs, and a code cell no attachments, whatever the window says.
    const { outputs = [], executionCount = null, attachments, metadata = {} } = kept;
    const ran = type === 'code' ? { outputs, executionCount } : { outputs: [], executionCount: null };
    return { type, source, metadata, ...ran, ...(type !== 'code' && attachments ? { attachments } : {}) };
  });
  for (const cell of pasted) assertCell(cell);
  return { cellIds: pasted.map((cell, at) => document.insert(index + at, cell, { by }).id) };
}

export function updateCells(document: NotebookDocument, updates: readonly SourceUpdate[], by: Actor): void {
  for (const { cellId, expectedRev } of updates) document.assertCurrent(cellId, { by, expectedRev });
  for (const { cellId, source } of updates) document.update(cellId, source, { by });
}

export function deleteCells(document: NotebookDocument, cellIds: readonly string[], by: Actor): void {
  const known = cellIds.length === 1 ? cellIds : cellIds.filter((id) => document.find(id));
  for (const id of known) document.delete(id, { by });
}

/** The text behind the place keeps the cell, with its outputs: they are what its last lines gave, as in JupyterLab. */
export function splitCell(
  document: NotebookDocument,
  { cellId, at, expectedRev }: Extract<ViewerAction, { do: 'split' }>,
  by: Actor,
): InsertedCell {
  document.assertCurrent(cellId, { by, expectedRev });
  const { cell, index } = document.get(cellId);
  const head = cell.source.slice(0, at).replace(/\n$/, '');
  const { id } = document.insert(index, { type: cell.type, source: head, metadata: cell.metadata }, { by });
  document.update(cellId, cell.source.slice(at).replace(/^\n/, ''), { by });
  return { cellId: id };
}

/** Type and metadata are the first one's. Outputs of one part would be shown as those of all, so there are none. */
export function mergeCells(document: NotebookDocument, cellIds: readonly string[], by: Actor): InsertedCell {
  const parts = cellIds.map((id) => document.get(id)).sort((a, b) => a.index - b.index);
  const [first, ...rest] = parts;
  if (!first) return { cellId: '' };
  if (rest.length === 0) return { cellId: first.cell.id };
  const source = parts.map(({ cell }) => cell.source).join('\n\n');
  const attachments = Object.assign({}, ...parts.map(({ cell }) => cell.attachments ?? {}));
  if (first.cell.type === 'code') document.clear(first.cell.id, { by });
  for (const { cell } of rest) document.delete(cell.id, { by });
  if (first.cell.type !== 'code' && Object.keys(attachments).length > 0) {
    document.restore({ cell: { ...first.cell, source, attachments }, index: first.index }, { by });
  } else document.update(first.cell.id, source, { by });
  return { cellId: first.cell.id };
}
