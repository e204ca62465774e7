import type { Actor, Notebook } from '../model/cell.js';
import type { NotebookDocument } from '../model/document.js';
import { isSameJson } from '../model/json.js';
import { bringTo } from './bring-to.js';
import { isSameCell, mergeNotebooks, type Preference } from './merge.js';

/** Who changes a document when its file was changed. */
export const otherProgram: Actor = { kind: 'person', name: 'Another program' };

/** A document, and the state of it that its file has. */
export class SyncedNotebook {
  readonly document: NotebookDocument;
  #base: Notebook;
  #syncedVersion: number;
  /** The notebook's own version and unknown keys, which no change of a document can set. */
  #frame: Pick<Notebook, 'minor' | 'extra'>;
  #isFollowing = false;

  constructor(document: NotebookDocument) {
    this.document = document;
    this.#base = document.toNotebook();
    this.#frame = frameOf(this.#base);
    this.#syncedVersion = document.version;
  }

  /** What document and file last agreed upon. */
  get base(): Notebook {
    return this.#base;
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
  }

  /**
   * Takes in what another program wrote. What both sides have changed is decided by `prefer`; without it nothing happens, and the
   * answer is a list of it.
   */
  takeIn(theirs: Notebook, prefer?: Preference): readonly string[] {
    const merge = this.isDirty ? mergeNotebooks(this.#base, this.toNotebook(), theirs, prefer) : undefined;
    if (merge && merge.overlaps.length > 0 && prefer === undefined) return merge.overlaps;
    const merged = merge?.notebook ?? theirs;
    this.#follow(merged);
    const isSaved = isSameNotebook(merged, theirs);
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
