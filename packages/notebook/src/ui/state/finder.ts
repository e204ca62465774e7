import type { Cell } from '../../model/cell.js';
import type { ViewerAction } from '../../viewer/protocol.js';
import { markFound } from '../cells/find-marks.js';
import type { NotebookView } from '../cells/notebook-view.js';
import type { Drafts } from './drafts.js';
import type { Selection } from './selection.js';
import type { Store } from './store.js';

/** What is looked for. */
export interface FindQuery {
  readonly text: string;
  readonly isCaseSensitive: boolean;
  readonly isPattern: boolean;
}

/** A place in a cell's text. */
export interface FoundPlace {
  readonly cellId: string;
  readonly from: number;
  readonly to: number;
}

export interface FinderOptions {
  store: Store;
  drafts: Drafts;
  selection: Selection;
  view: NotebookView;
  ask: (action: ViewerAction) => Promise<unknown>;
}

/** More are not counted. */
export const maxFound = 10_000;

/** Finds and replaces in the sources of all cells. */
export class Finder {
  readonly #options: FinderOptions;
  #pattern: RegExp | undefined;
  #isPattern = false;
  /** Why the pattern is none. */
  fault: string | undefined;
  found: readonly FoundPlace[] = [];
  /** Where the person is among what was found, or -1. */
  at = -1;

  constructor(options: FinderOptions) {
    this.#options = options;
  }

  /** Looks for something else, or with an empty text for nothing. */
  look({ text, isCaseSensitive, isPattern }: FindQuery): void {
    this.fault = undefined;
    this.#pattern = undefined;
    this.#isPattern = isPattern;
    if (text !== '') {
      try {
        const source = isPattern ? text : text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
        this.#pattern = new RegExp(source, isCaseSensitive ? 'gm' : 'gim');
      } catch (error) {
        this.fault = (error as Error).message;
      }
    }
    markFound(this.#pattern);
    this.at = -1;
    this.count();
  }

  /** Counts anew: somebody may have changed the cells. */
  count(): void {
    const current = this.found[this.at];
    const found: FoundPlace[] = [];
    const { store, drafts } = this.#options;
    for (const cell of store.cells) {
      if (!this.#pattern) break;
      for (const match of drafts.textOf(cell).matchAll(this.#pattern)) {
        if (match[0] !== '') found.push({ cellId: cell.id, from: match.index, to: match.index + match[0].length });
        if (found.length >= maxFound) break;
      }
    }
    this.found = found;
    this.at = current ? found.findIndex((each) => each.cellId === current.cellId && each.from === current.from) : -1;
  }

  /** Goes to the next one, from the selected cell on at first; behind the last one comes the first. */
  step(by: -1 | 1): void {
    const { store, selection, view } = this.#options;
    if (this.found.length === 0) return;
    const { length } = this.found;
    if (this.at !== -1) this.at = (this.at + by + length) % length;
    else {
      const from = store.indexOf(selection.cellId ?? '');
      const next = this.found.findIndex(({ cellId }) => store.indexOf(cellId) >= from);
      this.at = by === 1 ? Math.max(0, next) : next <= 0 ? length - 1 : next - 1;
    }
    const { cellId, from, to } = this.found[this.at] as FoundPlace;
    selection.set(cellId, 'command');
    view.find(cellId)?.reveal(from, to);
  }

  /** Replaces the one at which the person is, and goes on to the next. */
  async replace(by: string): Promise<void> {
    const current = this.found[this.at];
    if (!current) return this.step(1);
    const cell = await this.#settled(current.cellId);
    if (!cell) return;
    const source = this.#withReplaced(cell.source, by, current.from);
    await this.#options.ask({ do: 'updateAll', updates: [{ cellId: cell.id, source, expectedRev: cell.rev }] });
    this.count();
    const end = current.to + source.length - cell.source.length;
    const index = this.#options.store.indexOf(cell.id);
    const next = this.found.findIndex((each) => each.cellId === cell.id && each.from >= end);
    const other = this.found.findIndex((each) => this.#options.store.indexOf(each.cellId) > index);
    this.at = (next !== -1 ? next : other !== -1 ? other : 0) - 1;
    if (this.at < 0) this.at = this.found.length - 1;
    this.step(1);
  }

  /** All of them in one step, which Z takes back. Resolves to how many cells have changed. */
  async replaceAll(by: string): Promise<number> {
    const ids = new Set(this.found.map(({ cellId }) => cellId));
    const cells = await Promise.all([...ids].map((id) => this.#settled(id)));
    const updates = cells.flatMap((cell) => {
      const source = cell && this.#withReplaced(cell.source, by);
      return cell && source !== undefined && source !== cell.source ? [{ cellId: cell.id, source, expectedRev: cell.rev }] : [];
    });
    if (updates.length > 0) await this.#options.ask({ do: 'updateAll', updates });
    this.count();
    return updates.length;
  }

  /** All of them, or only the one at `place`. `$1` and the like stand for groups of a pattern; without a pattern nothing does. */
  #withReplaced(text: string, by: string, place?: number): string {
    if (!this.#pattern) return text;
    const { source, flags } = this.#pattern;
    const pattern = new RegExp(source, place === undefined ? flags : flags.replace('g', 'y'));
    pattern.lastIndex = place ?? 0;
    return this.#isPattern ? text.replace(pattern, by) : text.replace(pattern, () => by);
  }

  /** The cell, when what was typed in it is with the host. */
  async #settled(cellId: string): Promise<Cell | undefined> {
    const { drafts, store } = this.#options;
    await drafts.flush(cellId).catch(() => {});
    return store.document.find(cellId);
  }
}
