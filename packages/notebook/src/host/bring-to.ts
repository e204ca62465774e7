import type { Actor, CellContent, Notebook } from '../model/cell.js';
import type { NotebookDocument } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import { isSameJson } from '../model/json.js';

/**
 * Makes a document equal to another version of its notebook, by as few changes as possible: what is the same is not touched, so
 * that windows keep their place, and what was not changed is nobody's change. Version and unknown keys of the notebook are not the document's
 * to change. What is beyond its limits is taken too: others have it, so it is shown.
 */
export function bringTo(document: NotebookDocument, target: Notebook, by: Actor): void {
  deleteOthers(document, target, by);
  placeAll(document, target, by);
  for (const cell of target.cells) bringCellTo(document, cell, by);
  if (!isSameJson(document.metadata, target.metadata)) document.setMetadata(undefined, target.metadata, { by });
}

function deleteOthers(document: NotebookDocument, { cells }: Notebook, by: Actor): void {
  const wanted = new Set(cells.map(({ id }) => id));
  for (const { id } of document.cells) if (!wanted.has(id)) document.delete(id, { by });
}

/** Inserts what is new and moves what stands elsewhere, each behind the cell that comes before it. */
function placeAll(document: NotebookDocument, { cells }: Notebook, by: Actor): void {
  const places = new Map(document.cells.map(({ id }, index) => [id, index]));
  const staying = longestRise(cells.flatMap(({ id }) => (places.has(id) ? [{ id, place: places.get(id) ?? 0 }] : [])));
  cells.forEach((cell, index) => {
    if (staying.has(cell.id)) return;
    const previous = cells[index - 1];
    const placeOf = (id: string) => document.cells.findIndex((other) => other.id === id);
    const after = previous === undefined ? -1 : placeOf(previous.id);
    if (!places.has(cell.id)) orWhole(document, { cell, index: after + 1, by }, () => document.insert(after + 1, cell, { by }));
    // A cell that leaves its place above the target lets everything move up by one.
    else document.move(cell.id, placeOf(cell.id) < after ? after : after + 1, { by });
  });
}

/** One cell, if it is there; it stays where it is. */
export function bringCellTo(document: NotebookDocument, to: CellContent, by: Actor): void {
  const from = document.find(to.id);
  if (!from || from === to) return;
  const { index } = document.get(to.id);
  const isSame = (key: keyof CellContent) => isSameJson(from[key], to[key]);
  // The whole cell at once; there is no finer change for these.
  if (!isSame('type') || !isSame('attachments') || !isSame('extra')) return document.restore({ cell: to, index }, { by });
  if (!isSame('source')) orWhole(document, { cell: to, index, by }, () => document.update(to.id, to.source, { by }));
  if (!isSame('metadata')) document.setMetadata(to.id, to.metadata, { by });
  if (!isSame('outputs')) document.setOutputs(to.id, to.outputs, { by, executionCount: to.executionCount });
  else if (!isSame('executionCount')) document.setExecutionCount(to.id, to.executionCount, { by });
}

/** The whole cell at once, where the document refuses a change that goes beyond its limits. */
function orWhole(
  document: NotebookDocument,
  { cell, index, by }: { cell: CellContent; index: number; by: Actor },
  change: () => unknown,
): void {
  try {
    change();
  } catch (error) {
    if (!(error instanceof NotebookError)) throw error;
    document.restore({ cell, index }, { by });
  }
}

/** The most cells that can stay where they are: a longest rising run of places (patience sorting). */
function longestRise(cells: readonly { id: string; place: number }[]): Set<string> {
  const ends: { id: string; place: number; before: Link }[] = [];
  for (const { id, place } of cells) {
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((ends[middle]?.place ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    ends[low] = { id, place, before: ends[low - 1] };
  }
  const staying = new Set<string>();
  for (let link: Link = ends.at(-1); link; link = link.before) staying.add(link.id);
  return staying;
}

type Link = { id: string; before: Link } | undefined;
