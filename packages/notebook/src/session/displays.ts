import type { Actor } from '../model/cell.js';
import type { NotebookDocument } from '../model/document.js';
import type { Output } from '../model/output.js';

interface Place {
  readonly cellId: string;
  /** The output as the document holds it: where it is not the same any more, something else is shown there. */
  output: Output;
}

const maxDisplays = 10_000;

/**
 * Where the displays of a kernel stand, by the id that its code gave them. No notebook file holds these ids, so a display of another
 * session, or of before a restart, is shown anew nowhere.
 */
export class Displays {
  readonly #document: NotebookDocument;
  readonly #places = new Map<string, Place[]>();

  constructor(document: NotebookDocument) {
    this.#document = document;
  }

  /** The last output of the cell is this display. */
  remember(displayId: string, cellId: string): void {
    const output = this.#document.find(cellId)?.outputs.at(-1);
    if (!output) return;
    const places = this.#places.get(displayId) ?? [];
    this.#places.delete(displayId);
    this.#places.set(displayId, [...places.filter((place) => this.#indexOf(place) !== -1), { cellId, output }]);
    const [oldest] = this.#places.keys();
    if (this.#places.size > maxDisplays && oldest !== undefined) this.#places.delete(oldest);
  }

  /** Shows it anew wherever it stands. */
  update(displayId: string, output: Output, by: Actor): void {
    for (const place of this.#places.get(displayId) ?? []) {
      const index = this.#indexOf(place);
      if (index === -1) continue;
      this.#document.replaceOutput(place.cellId, index, output, { by });
      place.output = this.#document.find(place.cellId)?.outputs[index] ?? place.output;
    }
  }

  /** A fresh kernel knows no displays. */
  forget(): void {
    this.#places.clear();
  }

  #indexOf({ cellId, output }: Place): number {
    const cell = this.#document.find(cellId);
    return cell?.type === 'code' ? cell.outputs.indexOf(output) : -1;
  }
}
