import type { CellType } from '../model/cell.js';
import type { InsertedCell, ViewerAction } from '../viewer/protocol.js';
import { createCellCommands } from './cell-commands.js';
import type { NotebookView } from './cells/notebook-view.js';
import type { HeldKeys } from './held-keys.js';
import type { HostConnection } from './link/connection.js';
import { RequestFailed } from './link/connection.js';
import { createRunCommands } from './run-commands.js';
import type { Drafts } from './state/drafts.js';
import type { Mode, Selection } from './state/selection.js';
import type { Store } from './state/store.js';
import { createViewCommands, type ViewCommandsOptions } from './view-commands.js';

export interface CommandsOptions extends ViewCommandsOptions {
  store: Store;
  drafts: Drafts;
  selection: Selection;
  view: NotebookView;
  connection: HostConnection;
  keys: HeldKeys;
  /** Shows the person what went wrong. */
  complain: (message: string, cellId?: string) => void;
  inform: (message: string | undefined, cellId?: string) => void;
}

/** What ends a run without being news: the person or the agent wanted it so, and the cell shows it. */
const expectedEnds = new Set(['cancelled', 'cell_deleted', 'kernel_dead', 'kernel_failed', 'connection_lost']);

/** Everything that a person can do, whether by key or by button. */
export type Commands = ReturnType<typeof createCommands>;

export function createCommands(options: CommandsOptions) {
  const { store, drafts, selection, view, connection, keys, complain } = options;
  const selectedIndex = () => store.indexOf(selection.cellId ?? '');
  /** Behind the last one that is selected. */
  const indexBelow = () => store.indexOf(selection.among(store.cells).at(-1)?.id ?? '') + 1;

  /** Runs a request to its end, and shows a failure. */
  const ask = async (action: ViewerAction): Promise<unknown> => {
    try {
      return await connection.request(action);
    } catch (error) {
      const code = error instanceof RequestFailed ? error.code : '';
      const isRun = action.do === 'run' || action.do === 'runAll';
      if (!(isRun && expectedEnds.has(code))) complain((error as Error).message, 'cellId' in action ? action.cellId : undefined);
      return undefined;
    }
  };
  const cells = createCellCommands({ ...options, ask });
  const views = createViewCommands(options);

  const commands = {
    ask,
    // biome-ignore lint/nursery/noMisusedPromises: it is an object with methods, which the rule takes for a promise.
    ...createRunCommands({ ...options, ask }),
    ...cells,
    find: views.find,
    document: views.document,
    documentHere: views.documentHere,
    toggleLineNumbers: views.toggleLineNumbers,
    areLinesNumbered: () => views.areLinesNumbered,

    /** Shift-Enter: the person works downwards, and finds a new cell at the end. */
    runAndAdvance(): void {
      const next = store.cells[indexBelow()];
      void commands.runSelected();
      if (next) commands.show(next.id);
      else void commands.insert(store.cells.length, 'code', 'edit').then(() => view.offerQuestion());
    },

    runHere(): void {
      void commands.runSelected();
      if (selection.mode === 'edit') commands.leave();
    },

    runAndInsert(): void {
      void commands.runSelected();
      void commands.insert(indexBelow(), 'code', 'edit').then(() => view.offerQuestion());
    },

    /** Where there is no cell yet, the first one. */
    edit(): void {
      if (store.cells.length === 0) void commands.insert(0, 'code', 'edit');
      else view.goTo(selection.cellId, 'edit');
    },

    /** Back to command mode. */
    leave(): void {
      commands.show(selection.cellId);
    },

    show(cellId: string | undefined): void {
      view.goTo(cellId, 'command');
    },

    step(by: -1 | 1): void {
      commands.show(store.cells[selectedIndex() + by]?.id);
    },

    /** The cursor leaves a cell at its first or last line. */
    stepEditing(by: -1 | 1): void {
      const next = store.cells[selectedIndex() + by];
      if (!next) return;
      if (next.type === 'markdown') commands.show(next.id);
      else view.goTo(next.id, 'edit', by === 1 ? 'start' : 'end');
    },

    /** Resolves with whether the cell is there. */
    async insert(index: number, cellType: CellType, mode: Mode, source = ''): Promise<boolean> {
      const made = (await keys.until(ask({ do: 'insert', index, cellType, source }))) as InsertedCell | undefined;
      if (made) view.goTo(made.cellId, mode);
      return made !== undefined;
    },

    insertBeside(by: 0 | 1): void {
      const index = by === 1 ? indexBelow() : store.indexOf(selection.among(store.cells)[0]?.id ?? '');
      void commands.insert(Math.max(0, index), 'code', 'command');
    },

    /** Above a cell, or behind the last one. */
    insertBefore(cellId: string | undefined, type: CellType): void {
      void commands.insert(cellId === undefined ? store.cells.length : store.indexOf(cellId), type, 'edit');
    },

    /** Types into the cell that has the keyboard. */
    type(text: string): void {
      view.find(selection.cellId)?.type(text);
    },

    async save(): Promise<void> {
      await drafts.flushAll().catch(() => {});
      await ask({ do: 'save' });
    },
  };
  return commands;
}
