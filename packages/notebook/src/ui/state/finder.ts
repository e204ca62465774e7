import { revOf } from '@notebridge/protocol/runs/cell-rev';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Cell } from '../../model/cell.js';
import type { ViewerAction } from '../../viewer/protocol.js';
import { type FoundPlace, markFound } from '../cells/find-marks.js';
import type { NotebookView } from '../cells/notebook-view.js';
import { type PatternAnswer, type PatternQuestion, type TextPlace, work } from '../find/pattern-work.js';
import { threadQueue } from '../threads.js';
import type { Drafts } from './drafts.js';
import type { Selection } from './selection.js';
import type { Store } from './store.js';

export interface FinderOptions {
  store: Store;
  drafts: Drafts;
  selection: Selection;
  view: NotebookView;
  ask: (action: ViewerAction) => Promise<unknown>;
}

/** More are not counted. */
export const maxFound = 10_000;

const askThread = threadQueue<PatternQuestion, object>({
  name: 'find',
  faults: { start: 'Its thread does not start.', work: 'This pattern takes too long.', end: 'Its thread failed.' },
});

/** Finds and replaces in the sources of all cells. */
export class Finder {
  readonly #options: FinderOptions;
  readonly #listeners = new Listeners<void>();
  #pattern: RegExp | undefined;
  #isPattern = false;
  /** Counts of older questions are of no interest. */
  #lastCount = 0;
  #counting: Promise<void> = Promise.resolve();
  /** What was asked for before. A key that is pressed twice means two steps. */
  #asked: Promise<unknown> = Promise.resolve();
  /** What is wrong with the pattern, for a person. */
  fault: { readonly text: string; readonly detail: string } | undefined;
  found: readonly FoundPlace[] = [];
  /** Where the person is among what was found, or -1. */
  at = -1;

  constructor(options: FinderOptions) {
    this.#options = options;
  }

  /** Called when something was counted. Returns the unsubscribe function. */
  onCount(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Looks for something else, or with an empty text for nothing. */
  look({ text, isCaseSensitive, isPattern }: { text: string; isCaseSensitive: boolean; isPattern: boolean }): void {
    this.fault = undefined;
    this.#pattern = undefined;
    this.#isPattern = isPattern;
    this.at = -1;
    if (text !== '') {
      try {
        const source = isPattern ? text : text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
        this.#pattern = new RegExp(source, isCaseSensitive ? 'gm' : 'gim');
      } catch (error) {
        this.fault = { text: 'Not a regular expression', detail: messageOf(error) };
      }
    }
    this.count();
  }

  /** Counts anew: somebody may have changed the cells. */
  count(): void {
    const pattern = this.#pattern;
    const { cells } = this.#options.store;
    const count = ++this.#lastCount;
    if (!pattern) return this.#take([]);
    const question = { do: 'find', texts: cells.map((cell) => this.#options.drafts.textOf(cell)), pattern, max: maxFound } as const;
    const take = (places: readonly TextPlace[]) => {
      if (count !== this.#lastCount) return;
      this.#take(places.map(({ index, from, to }) => ({ cellId: cells[index]?.id ?? '', from, to })));
    };
    this.#counting = this.#work(question).then(take, (error: unknown) => {
      if (count !== this.#lastCount) return;
      this.#pattern = undefined;
      this.fault = { text: 'Takes too long', detail: messageOf(error) };
      this.#take([]);
    });
  }

  #take(found: readonly FoundPlace[]): void {
    const current = this.found[this.at];
    this.found = found;
    this.at = current ? found.findIndex((each) => each.cellId === current.cellId && each.from === current.from) : -1;
    markFound(found);
    this.#listeners.emit();
  }

  /** Goes to the next one, from the selected cell on at first; behind the last one comes the first. */
  readonly step = this.#inTurn(async (by: -1 | 1) => this.#step(by));

  /** Replaces the one at which the person is, and goes on to the next. Rejects if the pattern takes too long. */
  readonly replace = this.#inTurn((by: string) => this.#replace(by));

  /** All of them in one step, which Z takes back. Resolves to how many were replaced in how many cells; rejects as `replace` does. */
  readonly replaceAll = this.#inTurn((by: string) => this.#replaceAll(by));

  #inTurn<By, Result>(act: (by: By) => Promise<Result>): (by: By) => Promise<Result> {
    return (by) => {
      const result = this.#asked.then(async () => {
        await this.#counting;
        return act(by);
      });
      this.#asked = result.catch(() => {});
      return result;
    };
  }

  #step(by: -1 | 1): void {
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

  async #replace(by: string): Promise<void> {
    const current = this.found[this.at];
    if (!current) return this.#step(1);
    const cell = await this.#settled(current.cellId);
    if (!cell) return;
    const [source = cell.source] = await this.#withReplaced([cell.source], by, current.from);
    await this.#options.ask({ do: 'updateAll', updates: [{ cellId: cell.id, source, expectedRev: revOf(cell) }] });
    this.count();
    await this.#counting;
    const end = current.to + source.length - cell.source.length;
    const { store } = this.#options;
    const isBehind = ({ cellId, from }: FoundPlace) => (cellId === cell.id ? from >= end : store.indexOf(cellId) > store.indexOf(cell.id));
    // The step goes on from there; behind the last one comes the first.
    const next = this.found.findIndex(isBehind);
    this.at = (next <= 0 ? this.found.length : next) - 1;
    this.#step(1);
  }

  async #replaceAll(by: string): Promise<{ places: number; cells: number }> {
    const places = this.found.length;
    const ids = new Set(this.found.map(({ cellId }) => cellId));
    const cells = (await Promise.all([...ids].map((id) => this.#settled(id)))).filter((cell) => cell !== undefined);
    const sources = await this.#withReplaced(
      cells.map(({ source }) => source),
      by,
    );
    const updates = cells.flatMap((cell, index) => {
      const source = sources[index] ?? cell.source;
      return source === cell.source ? [] : [{ cellId: cell.id, source, expectedRev: revOf(cell) }];
    });
    if (updates.length > 0) await this.#options.ask({ do: 'updateAll', updates });
    this.count();
    await this.#counting;
    return { places, cells: updates.length };
  }

  /** All of them, or only the one at `place`. `$1` and the like stand for groups of a pattern; without a pattern nothing does. */
  async #withReplaced(texts: readonly string[], by: string, place?: number): Promise<string[]> {
    const pattern = this.#pattern;
    if (!pattern) return [...texts];
    const question = { do: 'replace', texts, pattern, by: this.#isPattern ? by : by.replaceAll('$', '$$$$') } as const;
    return this.#work(place === undefined ? question : { ...question, place });
  }

  /** A person's own pattern is given to the thread, which rejects where it takes too long. */
  async #work<Question extends PatternQuestion>(question: Question): Promise<PatternAnswer<Question>> {
    return this.#isPattern ? ((await askThread(question)) as PatternAnswer<Question>) : work(question);
  }

  /** The cell, when what was typed in it is with the host. */
  async #settled(cellId: string): Promise<Cell | undefined> {
    const { drafts, store } = this.#options;
    await drafts.flush(cellId).catch(() => {});
    return store.document.find(cellId);
  }
}
