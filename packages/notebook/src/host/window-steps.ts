import { revOf } from '@notebridge/protocol/runs/cell-rev';
import type { Actor } from '../model/cell.js';
import { type NotebookDocument, type PlacedCell, placeAmong } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import type { JournalEntry } from '../model/journal.js';
import { assertCell } from '../model/nbformat.js';
import { isContentOperation } from '../model/operation.js';
import type { NotebookSession } from '../session/session.js';
import type { InsertedCell, InsertedCells, PastedCell, SourceUpdate, ViewerAction } from '../viewer/protocol.js';

/** What a step made of one cell. */
interface Touched {
  readonly id: string;
  /** Undefined: the step made it. */
  readonly before: PlacedCell | undefined;
  /** Of the cell after the step; 0 if it is gone. */
  rev: number;
}

interface Step {
  readonly touched: readonly Touched[];
  /** The last change of an agent before it, by its id in the journal. */
  readonly after: number;
}

const maxSteps = 100;

/**
 * The changes that a person can take back at one window: its own steps on cells, and changes of agents; each as a whole, and never over
 * what somebody has changed since.
 */
export class WindowSteps {
  readonly #session: NotebookSession;
  readonly #document: NotebookDocument;
  readonly #by: Actor;
  readonly #steps: Step[] = [];
  /** Journal entries, by id, that cannot be taken back: the person was told so, and goes on to what was done before. */
  readonly #passed = new Set<number>();

  constructor(session: NotebookSession, by: Actor) {
    this.#session = session;
    this.#document = session.document;
    this.#by = by;
  }

  /** Remembers what `change` does, which has to do it at once. */
  perform<Result>(change: () => Result): Result {
    const touched = new Map<string, Touched>();
    const stopListening = this.#document.onChange(({ change: { op }, before, after }) => {
      const id = (before ?? after)?.cell.id;
      if (id === undefined || (!isContentOperation(op) && !touched.has(id))) return;
      if (!touched.has(id)) touched.set(id, { id, before, rev: 0 });
    });
    try {
      return change();
    } finally {
      stopListening();
      for (const each of touched.values()) each.rev = this.#revNow(each.id);
      const after = this.#session.journal.entries.at(-1)?.id ?? 0;
      if (touched.size > 0) this.#steps.push({ touched: [...touched.values()], after });
      if (this.#steps.length > maxSteps) this.#steps.shift();
    }
  }

  /** Takes the last of them back, and returns a cell of it. Throws `nothing_to_undo`, `cell_running`, or `changed_since` and changes nothing. */
  undo(): string {
    for (;;) {
      const entry = this.#session.journal.entries.findLast(({ id, undone }) => !undone && !this.#passed.has(id));
      if (entry && entry.id > (this.#steps.at(-1)?.after ?? 0)) return this.#undoEntry(entry);
      const step = this.#steps.pop();
      if (!step)
        throw new NotebookError('nothing_to_undo', 'This window and agents have done nothing with cells that could be taken back.');
      // Somebody has put back already what this step took away.
      const open = step.touched.filter(({ id, rev }) => rev !== 0 || !this.#document.find(id));
      if (open.length === 0) continue;
      const changed = open.find(({ id, rev }) => this.#revNow(id) !== rev);
      if (changed) throw changedSince(changed.id);
      return this.#revert(open);
    }
  }

  #undoEntry({ id, cellId, before }: JournalEntry): string {
    try {
      this.#session.undo(id, { by: this.#by });
    } catch (error) {
      if (!(error instanceof NotebookError) || error.code !== 'changed_since') throw error;
      this.#passed.add(id);
      throw changedSince(cellId);
    }
    const { cells } = this.#document;
    return (this.#document.find(cellId) ?? cells[before?.index ?? 0] ?? cells[0])?.id ?? '';
  }

  /** 0 if it is not there. */
  #revNow(id: string): number {
    const cell = this.#document.find(id);
    return cell ? revOf(cell) : 0;
  }

  #revert(step: readonly Touched[]): string {
    const by = { by: this.#by };
    // Backwards, so that each finds its neighbours as they were when it was touched.
    for (const { id, before } of step.toReversed()) {
      if (before) this.#bringBack(before);
      else if (this.#document.find(id)) this.#document.delete(id, by);
    }
    const back = new Set(step.flatMap(({ before }) => before?.cell.id ?? []));
    const { cells } = this.#document;
    return (cells.find(({ id }) => back.has(id)) ?? cells[0])?.id ?? '';
  }

  /** Outputs that came since stay; those that the step took away come back with the whole cell. */
  #bringBack(before: PlacedCell): void {
    const { cell } = before;
    const by = { by: this.#by };
    const now = this.#document.find(cell.id);
    const lostOutputs = now?.outputs.length === 0 && cell.outputs.length > 0;
    if (!now || now.type !== cell.type || lostOutputs) {
      this.#document.restore({ cell, index: placeAmong(this.#document.cells, before) }, by);
      return;
    }
    this.#document.update(cell.id, cell.source, by);
    this.#document.move(cell.id, placeAmong(this.#document.cells, before), by);
  }
}

function changedSince(cellId: string): NotebookError {
  const text = 'That cannot be taken back: a cell of it has been changed since. What was done before it still can.';
  return new NotebookError('changed_since', text, { data: { cellId } });
}

/* What a person does with cells in one step. Each checks before it changes anything. */

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
