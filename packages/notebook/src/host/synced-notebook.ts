import type { Actor, Notebook } from '../model/cell.js';
import { type KnownCell, toKnown } from '../model/cell-ids.js';
import { createDocument, type DocumentLimits, type NotebookDocument } from '../model/document.js';
import { isSameJson } from '../model/json.js';
import type { ReadNotebook } from '../model/nbformat.js';
import { bringTo } from './bring-to.js';
import { isSameCell, mergeNotebooks, type Preference } from './merge.js';

/** Who changes a document when its file was changed. */
export const otherProgram: Actor = { kind: 'person', name: 'Another program' };

/** A document and its file, as it was read last, with the state of the document that it has. */
export class SyncedNotebook {
  readonly document: NotebookDocument;
  #file: ReadNotebook;
  #base: Notebook;
  #syncedVersion: number;
  /** The notebook's own version and unknown keys, which no change of a document can set. */
  #frame: Pick<Notebook, 'minor' | 'extra'>;
  #isFollowing = false;

  constructor(file: ReadNotebook, limits?: DocumentLimits) {
    this.document = createDocument(file.notebook, limits);
    this.#file = file;
    this.#base = this.document.toNotebook();
    this.#frame = frameOf(this.#base);
    this.#syncedVersion = this.document.version;
  }

  get file(): ReadNotebook {
    return this.#file;
  }

  /** For reading the file again: the cells on which it and the document last agreed. */
  get known(): KnownCell[] {
    return toKnown(this.#base.cells);
  }

  get isDirty(): boolean {
    return this.document.version !== this.#syncedVersion;
  }

  /** True while the document is changed to follow its file: nothing that would have to be saved. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** What the file should hold. */
  toNotebook(): Notebook {
    const { metadata, cells } = this.document.toNotebook();
    return { metadata, cells, ...this.#frame };
  }

  /** The file holds this version of the document. */
  markSaved(saved: Notebook, version: number): void {
    this.#base = saved;
    this.#syncedVersion = version;
    if (this.#file.old) this.#file = { ...this.#file, old: undefined, mended: [] };
  }

  /**
   * Takes in what another program wrote. What both sides have changed is decided by `prefer`; without it nothing happens, and the
   * answer is a list of it.
   */
  takeIn(file: ReadNotebook, prefer?: Preference): readonly string[] {
    const theirs = file.notebook;
    const merge = this.isDirty ? mergeNotebooks(this.#base, this.toNotebook(), theirs, prefer) : undefined;
    if (merge && merge.overlaps.length > 0 && prefer === undefined) return merge.overlaps;
    const merged = merge?.notebook ?? theirs;
    this.#follow(merged);
    const isSaved = isSameNotebook(merged, theirs);
    this.#file = file;
    this.#base = theirs;
    this.#syncedVersion = isSaved ? this.document.version : -1;
    return [];
  }

  #follow(notebook: Notebook): void {
    this.#isFollowing = true;
    try {
      bringTo(this.document, notebook, otherProgram);
      this.#frame = frameOf(notebook);
    } finally {
      this.#isFollowing = false;
    }
  }
}

function frameOf({ minor, extra }: Notebook): Pick<Notebook, 'minor' | 'extra'> {
  return extra ? { minor, extra } : { minor };
}

/** True if both would be the same in a file. */
export function isSameNotebook(left: Notebook, right: Notebook): boolean {
  if (left.cells.length !== right.cells.length || left.minor !== right.minor) return false;
  if (!isSameJson(left.metadata, right.metadata) || !isSameJson(left.extra ?? {}, right.extra ?? {})) return false;
  return left.cells.every((cell, index) => {
    const other = right.cells[index];
    return other !== undefined && cell.id === other.id && isSameCell(cell, other);
  });
}
