import { Listeners } from '@notebridge/protocol/util/listeners';

/** Command: keys act on cells. Edit: they write into one. */
export type Mode = 'command' | 'edit';

export interface Selected {
  readonly cellId: string | undefined;
  readonly mode: Mode;
  /** Where a selection of several cells began; it goes from there to `cellId`. Absent: that one alone. */
  readonly anchorId?: string;
}

/** The cell at which the person is, in which mode, and which cells are selected with it. */
export class Selection {
  readonly #listeners = new Listeners<{ before: Selected; now: Selected }>();
  #now: Selected = { cellId: undefined, mode: 'command' };

  get cellId(): string | undefined {
    return this.#now.cellId;
  }

  get mode(): Mode {
    return this.#now.mode;
  }

  on(listener: (event: { before: Selected; now: Selected }) => void): void {
    this.#listeners.add(listener);
  }

  /** One cell, and no other. */
  set(cellId: string | undefined, mode: Mode): void {
    this.#become({ cellId, mode });
  }

  /** All from where the person was to this one. */
  extendTo(cellId: string): void {
    this.setRange(this.#now.anchorId ?? this.#now.cellId ?? cellId, cellId);
  }

  /** From one to another, at which the person is then. */
  setRange(anchorId: string, cellId: string): void {
    this.#become({ cellId, mode: 'command', ...(anchorId === cellId ? {} : { anchorId }) });
  }

  /** The selected cells among all, in their order. */
  among<Cell extends { readonly id: string }>(cells: readonly Cell[]): readonly Cell[] {
    const { cellId, anchorId } = this.#now;
    const at = cells.findIndex(({ id }) => id === cellId);
    const from = anchorId === undefined ? at : cells.findIndex(({ id }) => id === anchorId);
    if (at === -1) return [];
    return from === -1 ? cells.slice(at, at + 1) : cells.slice(Math.min(at, from), Math.max(at, from) + 1);
  }

  #become(now: Selected): void {
    const before = this.#now;
    if (before.cellId === now.cellId && before.mode === now.mode && before.anchorId === now.anchorId) return;
    this.#now = now;
    this.#listeners.emit({ before, now });
  }
}
