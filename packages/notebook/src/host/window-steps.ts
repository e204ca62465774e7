import type { Actor } from '../model/cell.js';
import { type NotebookDocument, type PlacedCell, placeAmong } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import { isContentOperation } from '../model/operation.js';

/** What a step made of one cell. */
interface Touched {
  readonly id: string;
  /** Undefined: the step made it. */
  readonly before: PlacedCell | undefined;
  /** Of the cell after the step; 0 if it is gone. */
  rev: number;
}

const maxSteps = 100;

/** The steps of one window on cells, each taken back as a whole, and never over what somebody has changed since. */
export class WindowSteps {
  readonly #document: NotebookDocument;
  readonly #by: Actor;
  readonly #steps: (readonly Touched[])[] = [];

  constructor(document: NotebookDocument, by: Actor) {
    this.#document = document;
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
      for (const each of touched.values()) each.rev = this.#document.find(each.id)?.rev ?? 0;
      if (touched.size > 0) this.#steps.push([...touched.values()]);
      if (this.#steps.length > maxSteps) this.#steps.shift();
    }
  }

  /** Takes the last step back, and returns a cell of it. Throws `nothing_to_undo`, or `changed_since` and changes nothing. */
  undo(): string {
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      // Somebody has put back already what this step took away.
      const open = step.filter(({ id, rev }) => rev !== 0 || !this.#document.find(id));
      if (open.length === 0) continue;
      this.#assertUntouched(open);
      return this.#revert(open);
    }
    throw new NotebookError('nothing_to_undo', 'This window has done nothing with cells that could be taken back.');
  }

  #assertUntouched(step: readonly Touched[]): void {
    const changed = step.map(({ id, rev }) => ({ cell: this.#document.find(id), rev })).find(({ cell, rev }) => (cell?.rev ?? 0) !== rev);
    if (!changed) return;
    const text = 'That cannot be taken back: a cell of it has been changed since. What was done before it still can.';
    throw new NotebookError('changed_since', text, { data: { cellId: changed.cell?.id } });
  }

  #revert(step: readonly Touched[]): string {
    const by = { by: this.#by };
    // Backwards, so that each finds its neighbours as they were when it was touched.
    for (const { id, before } of step.toReversed()) {
      if (before) this.#bringBack(before);
      else if (this.#document.find(id)) this.#document.delete(id, by);
    }
    this.#passOn(step);
    const back = new Set(step.flatMap(({ before }) => before?.cell.id ?? []));
    const { cells } = this.#document;
    return (cells.find(({ id }) => back.has(id)) ?? cells[0])?.id ?? '';
  }

  /** The cells are again what the step before this one made of them, under new revisions. */
  #passOn(undone: readonly Touched[]): void {
    for (const { id, before } of undone) {
      const rev = this.#document.find(id)?.rev ?? 0;
      for (const earlier of this.#steps.flat()) if (earlier.id === id && earlier.rev === before?.cell.rev) earlier.rev = rev;
    }
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
