import type { Actor } from '../model/cell.js';
import type { DocumentEvent, NotebookDocument } from '../model/document.js';
import { cellIdOf, type Operation } from '../model/operation.js';

/** How often the note of what is left out of a cell is brought up to date. */
const finishEveryMs = 1000;

/** Whose code shows something. */
export interface LateRun {
  readonly id: number;
  readonly cellId: string;
  readonly by: Actor;
}

/** After these the outputs of a cell are not those of its last run any more. */
const ends: ReadonlySet<Operation['type']> = new Set(['setOutputs', 'setType', 'restore', 'delete']);

/**
 * Which cells may still get outputs although their run has ended, from threads, tasks and callbacks: until the cell is run again, cleared or
 * deleted, or the kernel starts anew.
 */
export class LateOutputs {
  readonly #document: NotebookDocument;
  /** The last run of each of these cells, and what brings its note up to date. */
  readonly #open = new Map<string, { runId: number; timer?: ReturnType<typeof setTimeout> }>();
  #isWriting = false;

  readonly #stopListening: () => void;

  constructor(document: NotebookDocument) {
    this.#document = document;
    this.#stopListening = document.onChange((event) => this.#follow(event));
  }

  /** When a run has ended. */
  open({ id: runId, cellId }: LateRun): void {
    if (this.#document.find(cellId)?.type === 'code') this.#open.set(cellId, { runId });
  }

  end(cellId: string): void {
    clearTimeout(this.#open.get(cellId)?.timer);
    this.#open.delete(cellId);
  }

  /** A fresh kernel shows nothing for the one before. */
  forget(): void {
    for (const cellId of this.#open.keys()) this.end(cellId);
  }

  close(): void {
    this.#stopListening();
    this.forget();
  }

  /** Changes the outputs of the cell, if it is still open for this run. */
  write({ id, cellId, by }: LateRun, change: () => void): void {
    const open = this.#open.get(cellId);
    if (open?.runId !== id) return;
    this.#isWriting = true;
    try {
      change();
    } finally {
      this.#isWriting = false;
    }
    open.timer ??= setTimeout(() => {
      delete open.timer;
      this.#document.finishOutputs(cellId, { by });
    }, finishEveryMs);
  }

  #follow({ change: { op } }: DocumentEvent): void {
    const cellId = cellIdOf(op);
    if (cellId !== undefined && ends.has(op.type) && !this.#isWriting) this.end(cellId);
  }
}
