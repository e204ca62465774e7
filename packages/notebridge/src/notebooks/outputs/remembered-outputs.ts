import type { CellOutputs } from './page-results.js';

interface Entry {
  outputs: CellOutputs['outputs'];
  characters: number;
}

/** What cells gave, for as long as there is room: of those that were not read for longest, the first goes. */
export class RememberedOutputs {
  readonly #maxCharacters: number;
  readonly #entries = new Map<string, Entry>();
  #characters = 0;

  constructor({ maxCharacters = 32_000_000 }: { maxCharacters?: number } = {}) {
    this.#maxCharacters = maxCharacters;
  }

  get characters(): number {
    return this.#characters;
  }

  /** `characters`: of the result that they stood in. More than all room is not remembered. */
  add({ cellId, outputs }: CellOutputs, characters: number): void {
    this.forget(cellId);
    if (characters > this.#maxCharacters) return;
    this.#entries.set(cellId, { outputs, characters });
    this.#characters += characters;
    for (const oldest of this.#entries.keys()) {
      if (this.#characters <= this.#maxCharacters) return;
      this.forget(oldest);
    }
  }

  get(cellId: string): CellOutputs['outputs'] | undefined {
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
