import type { Cell } from './cell.js';
import type { Operation } from './operation.js';

/**
 * Finds cells by their ids. It knows where each was seen last, and looks from there outwards: a cell that comes, goes or moves shifts
 * those behind it by one, and going through all of them with each change would make every change of a large notebook slow.
 */
export class CellPlaces {
  #lastSeen: Map<string, number> | undefined;

  /** -1 if it is not among them. `cells` are those after the last change that was passed to `keep`. */
  indexOf(cells: readonly Cell[], id: string): number {
    this.#lastSeen ??= new Map(cells.map((cell, index) => [cell.id, index]));
    const seenAt = this.#lastSeen.get(id);
    if (seenAt === undefined) return -1;
    const index = findNear(cells, id, seenAt);
    if (index !== seenAt && index !== -1) this.#lastSeen.set(id, index);
    return index;
  }

  /** Must be called with every change. */
  keep(op: Operation): void {
    if (op.type === 'insert' || op.type === 'restore') this.#lastSeen?.set(op.cell.id, op.index);
    else if (op.type === 'move') this.#lastSeen?.set(op.id, op.index);
    else if (op.type === 'delete') this.#lastSeen?.delete(op.id);
  }
}

function findNear(cells: readonly Cell[], id: string, start: number): number {
  for (let [below, above] = [start, start + 1]; below >= 0 || above < cells.length; below--, above++) {
    if (cells[below]?.id === id) return below;
    if (cells[above]?.id === id) return above;
  }
  return -1;
}
