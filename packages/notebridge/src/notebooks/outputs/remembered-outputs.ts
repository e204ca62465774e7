import type { Output } from '@notebridge/notebook/outputs';

/** The outputs of one cell, as the page gave them. */
export interface RememberedCell {
  cellId: string;
  outputs: readonly Output[];
}

interface Entry {
  outputs: RememberedCell['outputs'];
  characters: number;
}

/** Of all results together. */
const maxCharacters = 32_000_000;

/** What cells gave, for as long as there is room: of those that were not read for longest, the first goes. */
export class RememberedOutputs {
  readonly #entries = new Map<string, Entry>();
  #characters = 0;

  /** `characters`: of the result that they stood in. More than all room is not remembered. */
  add({ cellId, outputs }: RememberedCell, characters: number): void {
    this.forget(cellId);
    if (characters > maxCharacters) return;
    this.#entries.set(cellId, { outputs, characters });
    this.#characters += characters;
    for (const oldest of this.#entries.keys()) {
      if (this.#characters <= maxCharacters) return;
      this.forget(oldest);
    }
  }

  get(cellId: string): RememberedCell['outputs'] | undefined {
    const entry = this.#entries.get(cellId);
    if (entry === undefined) return undefined;
    this.#entries.delete(cellId);
    this.#entries.set(cellId, entry);
    return entry.outputs;
  }

  forget(cellId: string): void {
    this.#characters -= this.#entries.get(cellId)?.characters ?? 0;
    this.#entries.delete(cellId);
  }
}
