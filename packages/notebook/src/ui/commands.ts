import type { Cell, CellType } from '../model/cell.js';
import type { InsertedCell, PastedContent, ViewerAction } from '../viewer/protocol.js';
import type { NotebookView } from './cells/notebook-view.js';
import { confirm } from './frame/dialogs.js';
import type { Connection } from './link/connection.js';
import { RequestFailed } from './link/connection.js';
import type { Drafts } from './state/drafts.js';
import type { Mode, Selection } from './state/selection.js';
import type { Store } from './state/store.js';

export interface CommandsOptions {
  store: Store;
  drafts: Drafts;
  selection: Selection;
  view: NotebookView;
  connection: Connection;
  /** Tells the person what went wrong. */
  complain: (message: string) => void;
}

/** What ends a run without being news: the person or the agent wanted it so, and the cell shows it. */
const expectedEnds = new Set(['cancelled', 'cell_deleted', 'kernel_dead', 'kernel_failed']);

/** Everything that a person can do, whether by key or by button. */
export class Commands {
  readonly #options: CommandsOptions;
  #clipboard: Cell | undefined;

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  get #cell(): Cell | undefined {
    const { store, selection } = this.#options;
    return store.cells.find(({ id }) => id === selection.cellId);
  }

  get #index(): number {
    return this.#options.store.indexOf(this.#options.selection.cellId ?? '');
  }

  /** Runs a request to its end; a failure is told. */
  async ask(action: ViewerAction): Promise<unknown> {
    try {
      return await this.#options.connection.request(action);
    } catch (error) {
      const code = error instanceof RequestFailed ? error.code : '';
      if (!(action.do === 'run' && (expectedEnds.has(code) || code === 'connection_lost')))
        this.#options.complain((error as Error).message);
      return undefined;
    }
  }

  async run(cellId = this.#options.selection.cellId): Promise<void> {
    const { drafts, store, view, complain } = this.#options;
    const cell = store.cells.find(({ id }) => id === cellId);
    if (!cell) return;
    if (cell.type !== 'code') return view.find(cell.id)?.render();
    try {
      await drafts.flush(cell.id);
    } catch (error) {
      return complain((error as Error).message);
    }
    await this.ask({ do: 'run', cellId: cell.id });
  }

  /** Shift-Enter: the person works downwards, and finds a new cell at the end. */
  runAndAdvance(): void {
    const { store, view } = this.#options;
    const next = store.cells[this.#index + 1];
    void this.run();
    if (next) view.goTo(next.id, 'command');
    else void this.insert(store.cells.length, 'code', 'edit');
  }

  runHere(): void {
    void this.run();
    this.leave();
  }

  runAndInsert(): void {
    void this.run();
    void this.insert(this.#index + 1, 'code', 'edit');
  }

  async runAll(): Promise<void> {
    // One after the other, so that they wait in the order in which they stand.
    for (const { id, type } of this.#options.store.cells) if (type === 'code') void this.run(id);
  }

  edit(): void {
    this.#options.view.goTo(this.#options.selection.cellId, 'edit');
  }

  /** Back to command mode. */
  leave(): void {
    this.#options.view.goTo(this.#options.selection.cellId, 'command');
  }

  step(by: -1 | 1): void {
    const { store, view } = this.#options;
    view.goTo(store.cells[this.#index + by]?.id, 'command');
  }

  /** The cursor leaves a cell at its first or last line. */
  stepEditing(by: -1 | 1): void {
    const { store, view } = this.#options;
    const next = store.cells[this.#index + by];
    if (!next) return;
    if (next.type === 'markdown') view.goTo(next.id, 'command');
    else view.goTo(next.id, 'edit', by === 1 ? 'start' : 'end');
  }

  async insert(
    index: number,
    cellType: CellType,
    mode: Mode,
    content: { source: string; more?: PastedContent } = { source: '' },
  ): Promise<void> {
    const made = (await this.ask({ do: 'insert', index, cellType, ...content })) as InsertedCell | undefined;
    if (made) this.#options.view.goTo(made.cellId, mode);
  }

  insertBeside(by: 0 | 1): void {
    void this.insert(this.#index + by, 'code', 'command');
  }

  /** Above a cell, or behind the last one. */
  insertBefore(cellId: string | undefined, type: CellType): void {
    const { store } = this.#options;
    void this.insert(cellId === undefined ? store.cells.length : store.indexOf(cellId), type, 'edit');
  }

  setType(cellType: CellType): void {
    const cell = this.#cell;
    if (!cell) return;
    // A text cell that was code shows its source: what it looks like as text is for the person to ask for.
    if (cellType === 'markdown') this.#options.view.find(cell.id)?.open();
    void this.ask({ do: 'setType', cellId: cell.id, cellType });
  }

  move(by: -1 | 1): void {
    const cell = this.#cell;
    const index = this.#index + by;
    if (cell && index >= 0 && index < this.#options.store.cells.length) void this.ask({ do: 'move', cellId: cell.id, index });
  }

  clearOutputs(): void {
    const { cellId } = this.#options.selection;
    if (cellId !== undefined) void this.ask({ do: 'clearOutputs', cellId });
  }

  async remove(): Promise<void> {
    const cell = this.#cell;
    if (!cell) return;
    // What was typed last belongs to what Z puts back.
    await this.#options.drafts.flush(cell.id).catch(() => {});
    await this.ask({ do: 'delete', cellId: cell.id });
  }

  async undoDelete(): Promise<void> {
    const put = (await this.ask({ do: 'undoDelete' })) as InsertedCell | undefined;
    if (put) this.#options.view.goTo(put.cellId, 'command');
  }

  copy(): void {
    const cell = this.#cell;
    if (cell) this.#clipboard = { ...cell, source: this.#options.drafts.textOf(cell) };
  }

  cut(): void {
    this.copy();
    void this.remove();
  }

  paste(): void {
    if (!this.#clipboard) return;
    const { type, source, metadata, attachments, outputs, executionCount } = this.#clipboard;
    const more = { metadata, ...(attachments ? { attachments } : {}), ...(type === 'code' ? { outputs, executionCount } : {}) };
    void this.insert(this.#index + 1, type, 'command', { source, more });
  }

  async save(): Promise<void> {
    await this.#options.drafts.flushAll().catch(() => {});
    await this.ask({ do: 'save' });
  }

  interrupt(): void {
    void this.ask({ do: 'interrupt' });
  }

  stop(): void {
    void this.ask({ do: 'stop' });
  }

  async restart(): Promise<void> {
    const detail = 'All variables are lost. What runs is stopped, what waits does not run. Cells and outputs stay.';
    if (await confirm('Restart the kernel?', { yes: 'Restart', detail })) await this.ask({ do: 'restart' });
  }
}
