import { Listeners } from '@notebridge/protocol/util/listeners';
import type { CellPlace, LocatedCell } from './cell-reader.js';

/** One change that an agent made, with what taking it back needs: what was there before, and what the agent left. */
export type ChangeEntry = { readonly cellId: string /** Of which connection the page was. */; readonly connection: number } & (
  | { readonly change: 'insert'; readonly left: string; readonly language: string | undefined }
  | { readonly change: 'update'; readonly before: string; readonly left: string }
  | { readonly change: 'move'; readonly before: CellPlace; readonly left: number }
  | { readonly change: 'delete'; readonly before: LocatedCell }
);

export interface ChangeJournalLimits {
  /** Default 100. */
  maxEntries?: number;
  /** Characters of the sources that entries keep. Default 5,000,000. */
  maxCharacters?: number;
}

/** What agents have changed in a page, oldest first. The oldest go when it is full; one that is too large takes all with it. */
export class ChangeJournal {
  /** Called when the first entry comes, and when the last one goes. */
  readonly flipped = new Listeners<void>();
  readonly #limits: Required<ChangeJournalLimits>;
  #entries: ChangeEntry[] = [];

  constructor(limits: ChangeJournalLimits = {}) {
    this.#limits = { maxEntries: 100, maxCharacters: 5_000_000, ...limits };
  }

  get entries(): readonly ChangeEntry[] {
    return this.#entries;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  get last(): ChangeEntry | undefined {
    return this.#entries.at(-1);
  }

  add(entry: ChangeEntry): void {
    this.#set(withinLimits([...this.#entries, entry], this.#limits));
  }

  remove(entry: ChangeEntry): void {
    this.#set(this.#entries.filter((other) => other !== entry));
  }

  clear(): void {
    this.#set([]);
  }

  /** A cell that came back has another id: entries of the old id now refer to the new one. */
  rename(from: string, to: string): void {
    this.#entries = this.#entries.map((entry) => renamed(entry, from, to));
  }

  /** The language in which the agent added a cell, if it did. */
  languageOf(cellId: string): string | undefined {
    const added = this.#entries.findLast((entry) => entry.change === 'insert' && entry.cellId === cellId);
    return added?.change === 'insert' ? added.language : undefined;
  }

  #set(entries: ChangeEntry[]): void {
    const wasEmpty = this.isEmpty;
    this.#entries = entries;
    if (wasEmpty !== this.isEmpty) this.flipped.emit();
  }
}

function withinLimits(entries: ChangeEntry[], { maxEntries, maxCharacters }: Required<ChangeJournalLimits>): ChangeEntry[] {
  let characters = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  let first = 0;
  for (const entry of entries) {
    if (entries.length - first <= maxEntries && characters <= maxCharacters) break;
    characters -= sizeOf(entry);
    first++;
  }
  return entries.slice(first);
}

function sizeOf(entry: ChangeEntry): number {
  switch (entry.change) {
    case 'insert':
      return entry.left.length;
    case 'update':
      return entry.before.length + entry.left.length;
    case 'move':
      return 0;
    case 'delete':
      return entry.before.source.length;
  }
}

function renamed(entry: ChangeEntry, from: string, to: string): ChangeEntry {
  const rename = <Id extends string | undefined>(id: Id): Id | string => (id === from ? to : id);
  const cellId = rename(entry.cellId);
  if (entry.change !== 'move' && entry.change !== 'delete') return { ...entry, cellId };
  const places = { previousId: rename(entry.before.previousId), nextId: rename(entry.before.nextId) };
  if (entry.change === 'move') return { ...entry, cellId, before: { ...entry.before, ...places } };
  return { ...entry, cellId, before: { ...entry.before, ...places } };
}
