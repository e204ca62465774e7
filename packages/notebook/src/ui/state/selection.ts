import { Listeners } from '@notebridge/kit/listeners';

/** Command: keys act on cells. Edit: they write into one. */
export type Mode = 'command' | 'edit';

export interface Selected {
  readonly cellId: string | undefined;
  readonly mode: Mode;
}

/** The cell at which the person is, and in which mode. */
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

  set(cellId: string | undefined, mode: Mode): void {
    const before = this.#now;
    if (before.cellId === cellId && before.mode === mode) return;
    this.#now = { cellId, mode };
    this.#listeners.emit({ before, now: this.#now });
  }
}
