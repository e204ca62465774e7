import { Listeners } from '@notebridge/protocol/util/listeners';
import type { Actor, Cell } from './cell.js';
import { type DocumentEvent, type NotebookDocument, type PlacedCell, placeAmong } from './document.js';
import { NotebookError } from './errors.js';
import { sizeOf } from './json.js';
import { type ContentOperation, isContentOperation } from './operation.js';

export interface JournalLimits {
  /** Default 500. */
  maxEntries?: number;
  /** Characters of the cells that entries keep. Default 50,000,000. The last entry always stays. */
  maxCharacters?: number;
}

export type JournalAction = ContentOperation['type'];

/** One change of an agent, as a UI lists it. */
export interface JournalEntry {
  readonly id: number;
  readonly by: Actor;
  readonly action: JournalAction;
  readonly cellId: string;
  /** The cell before and after: undefined where it was not there. */
  readonly before?: PlacedCell;
  readonly after?: PlacedCell;
  readonly undone: boolean;
  /** The person who has changed the cell since, so that it cannot be undone any more. */
  readonly changedBy?: Actor;
}

interface Entry extends JournalEntry {
  undone: boolean;
  changedBy?: Actor;
  readonly size: number;
}

/** Which entries an undo is about. */
export interface UndoOptions {
  /** Who undoes. */
  by: Actor;
  /** Only the changes of the agent of this name. */
  ofAgent?: string | undefined;
}

/** Remembers what agents change, and takes it back exactly: one change at a time, and never over a person's edit. */
export class Journal {
  readonly #document: NotebookDocument;
  readonly #limits: Required<JournalLimits>;
  readonly #listeners = new Listeners<readonly JournalEntry[]>();
  readonly #stopListening: () => void;
  #entries: Entry[] = [];
  #nextId = 1;
  /** Characters of the cells that the entries keep. */
  #characters = 0;
  /** The version that an undo of ours makes: what is taken back is no new change. */
  #undoVersion = 0;

  constructor(document: NotebookDocument, limits: JournalLimits = {}) {
    this.#document = document;
    this.#limits = { maxEntries: 500, maxCharacters: 50_000_000, ...limits };
    this.#stopListening = document.onChange((event) => this.#onEvent(event));
  }

  /** Oldest first. */
  get entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  onChange(listener: (entries: readonly JournalEntry[]) => void): () => void {
    return this.#listeners.add(listener);
  }

  close(): void {
    this.#stopListening();
  }

  /** The entry that `undoLast` would take back. */
  findLast(ofAgent?: string): JournalEntry | undefined {
    return this.#entries.findLast((entry) => !entry.undone && (ofAgent === undefined || entry.by.name === ofAgent));
  }

  /** Takes back the last change that is not undone. Throws `nothing_to_undo`, or `changed_since` and changes nothing. */
  undoLast({ by, ofAgent }: UndoOptions): JournalEntry {
    const last = this.findLast(ofAgent);
    if (!last) throw new NotebookError('nothing_to_undo', 'There is no change by an agent that could be taken back.');
    return this.undo(last.id, { by });
  }

  /** Takes back one change. Throws `nothing_to_undo`, or `changed_since` and changes nothing. */
  undo(entryId: number, { by }: UndoOptions): JournalEntry {
    const entry = this.#entries.find(({ id, undone }) => id === entryId && !undone);
    if (!entry) throw new NotebookError('nothing_to_undo', `Change ${entryId} was taken back already, or is too old to be.`);
    this.#assertUntouched(entry);
    this.#undoVersion = this.#document.version + 1;
    this.#revert(entry, by);
    entry.undone = true;
    this.#listeners.emit(this.#entries);
    return entry;
  }

  #revert({ before, cellId }: Entry, by: Actor): void {
    if (!before) this.#document.delete(cellId, { by });
    else this.#document.restore({ cell: before.cell, index: placeAmong(this.#document.cells, before) }, { by });
  }

  /** Every change of a cell since is a later entry, or a person's, which is noted with this one. */
  #assertUntouched(entry: Entry): void {
    const current = this.#document.find(entry.cellId);
    const later = this.#entries.findLast(({ cellId, undone, id }) => cellId === entry.cellId && !undone && id > entry.id);
    if (!entry.changedBy && !later) return;
    throw new NotebookError('changed_since', refusal(entry, current, later), {
      data: {
        entryId: entry.id,
        cellId: entry.cellId,
        currentSource: current?.source,
        changedBy: entry.changedBy,
        laterEntryId: later?.id,
      },
    });
  }

  #onEvent({ change: { op, by, version }, ...places }: DocumentEvent): void {
    const cell = places.after?.cell ?? places.before?.cell;
    if (version === this.#undoVersion || !cell || !isContentOperation(op)) return;
    if (by.kind === 'person') this.#markTouched(cell.id, by);
    else this.#record({ by, action: op.type, cellId: cell.id, ...places });
  }

  #markTouched(cellId: string, by: Actor): void {
    const touched = this.#entries.filter((entry) => entry.cellId === cellId && !entry.undone);
    for (const entry of touched) entry.changedBy = by;
    if (touched.length > 0) this.#listeners.emit(this.#entries);
  }

  #record(what: Pick<JournalEntry, 'by' | 'action' | 'cellId' | 'before' | 'after'>): void {
    const { before, after } = what;
    const size = sizeOf(before?.cell) + sizeOf(after?.cell.source);
    this.#entries = [...this.#entries, { ...what, id: this.#nextId++, undone: false, size }];
    this.#characters += size;
    this.#forgetOldest();
    this.#listeners.emit(this.#entries);
  }

  #forgetOldest(): void {
    const { maxEntries, maxCharacters } = this.#limits;
    while (this.#entries.length > 1 && (this.#entries.length > maxEntries || this.#characters > maxCharacters)) {
      this.#characters -= this.#entries.shift()?.size ?? 0;
    }
  }
}

function refusal(entry: Entry, current: Cell | undefined, later: Entry | undefined): string {
  const start = `The ${entry.action} of the cell "${entry.cellId}" by ${entry.by.name} cannot be undone:`;
  if (entry.changedBy) return `${start} ${entry.changedBy.name} has ${current ? 'changed' : 'deleted'} the cell since.`;
  return `${start} a later change of the same cell (${later?.action}, entry ${later?.id}) has to be undone first.`;
}
