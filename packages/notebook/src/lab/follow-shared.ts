import { bringCellTo, bringTo } from '../host/bring-to.js';
import { isSameCell } from '../host/merge.js';
import type { Actor, CellContent, Notebook } from '../model/cell.js';
import type { NotebookDocument } from '../model/document.js';
import { NotebookError } from '../model/errors.js';

/** Brings a document to what others have made of its notebook. What nbformat would refuse is taken too: they have it, so we show it. */
export function followNotebook(document: NotebookDocument, target: Notebook, by: Actor): void {
  try {
    bringTo(document, target, by);
  } catch (error) {
    if (!(error instanceof NotebookError)) throw error;
    const wanted = new Set(target.cells.map(({ id }) => id));
    for (const { id } of document.cells) if (!wanted.has(id)) document.delete(id, { by });
    target.cells.forEach((cell, index) => {
      const now = document.cells[index];
      if (now?.id !== cell.id || !isSameCell(now, cell)) document.restore({ cell, index }, { by });
    });
  }
}

/** The same for one cell, which stays where it is. */
export function followCell(document: NotebookDocument, to: CellContent, by: Actor): void {
  const from = document.find(to.id);
  if (!from) return;
  try {
    bringCellTo(document, { from, to, by });
  } catch (error) {
    if (!(error instanceof NotebookError)) throw error;
    document.restore({ cell: to, index: document.get(to.id).index }, { by });
  }
}
