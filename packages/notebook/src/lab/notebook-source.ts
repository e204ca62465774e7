import type { NotebookDocument } from '../model/document.js';

/** Where a notebook of a server comes from, and what keeps the two equal. */
export interface NotebookSource {
  readonly document: NotebookDocument;
  /** As it is now: a person may have renamed the file. */
  readonly path: string;
  /** Whether edits of both sides are there at once. */
  readonly isLive: boolean;
  /** People who have it open, as far as that is known. */
  readonly people: readonly string[];
  /** What is to be known of its file, if anything is. */
  readonly note?: string | undefined;
  /** Resolves when the document is as the server has it. `forEdit`: rejects with what keeps it from being changed. */
  ready(options: { forEdit: boolean }): Promise<void>;
  /** Resolves when the server has every change that was made here. Rejects with what is not there, and why. */
  settle(): Promise<void>;
  /** Shows others that a cell runs, where that can be shown. */
  setRunning(cellId: string, isRunning: boolean): void;
  close(): Promise<void>;
}
