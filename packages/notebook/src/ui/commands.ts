import type { Cell, CellType } from '../model/cell.js';
import type { InsertedCell, PastedContent, ViewerAction } from '../viewer/protocol.js';
import type { NotebookView } from './cells/notebook-view.js';
import { confirm } from './frame/dialogs.js';
import type { HostConnection } from './link/connection.js';
import { RequestFailed } from './link/connection.js';
import type { Drafts } from './state/drafts.js';
import type { Mode, Selection } from './state/selection.js';
import type { Store } from './state/store.js';

export interface CommandsOptions {
  store: Store;
  drafts: Drafts;
  selection: Selection;
  view: NotebookView;
  connection: HostConnection;
  /** Shows the person what went wrong. */
  complain: (message: string) => void;
}

/** What ends a run without being news: the person or the agent wanted it so, and the cell shows it. */
const expectedEnds = new Set(['cancelled', 'cell_deleted', 'kernel_dead', 'kernel_failed']);

/** Everything that a person can do, whether by key or by button. */
export type Commands = ReturnType<typeof createCommands>;

export function createCommands({ store, drafts, selection, view, connection, complain }: CommandsOptions) {
  let clipboard: Cell | undefined;
  const selected = () => store.document.find(selection.cellId ?? '');
  const selectedIndex = () => store.indexOf(selection.cellId ?? '');

  const commands = {
    /** Runs a request to its end, and shows a failure. */
    async ask(action: ViewerAction): Promise<unknown> {
      try {
        return await connection.request(action);
      } catch (error) {
        const code = error instanceof RequestFailed ? error.code : '';
        if (!(action.do === 'run' && (expectedEnds.has(code) || code === 'connection_lost'))) complain((error as Error).message);
        return undefined;
      }
    },

    async run(cellId = selection.cellId): Promise<void> {
      const cell = store.document.find(cellId ?? '');
      if (!cell) return;
      if (cell.type !== 'code') return view.find(cell.id)?.setOpen(false);
      try {
        await drafts.flush(cell.id);
      } catch (error) {
        return complain((error as Error).message);
      }
      await commands.ask({ do: 'run', cellId: cell.id });
    },

    /** Shift-Enter: the person works downwards, and finds a new cell at the end. */
    runAndAdvance(): void {
      const next = store.cells[selectedIndex() + 1];
      void commands.run();
      if (next) commands.show(next.id);
      else void commands.insert(store.cells.length, 'code', 'edit');
    },

    runHere(): void {
      void commands.run();
      commands.leave();
    },

    runAndInsert(): void {
      void commands.run();
      void commands.insert(selectedIndex() + 1, 'code', 'edit');
    },

    runAll(): void {
      // One after the other, so that they wait in the order in which they stand.
      for (const { id, type } of store.cells) if (type === 'code') void commands.run(id);
    },

    edit(): void {
      view.goTo(selection.cellId, 'edit');
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

    async insert(
      index: number,
      cellType: CellType,
      mode: Mode,
      content: { source: string; more?: PastedContent } = { source: '' },
    ): Promise<void> {
      const made = (await commands.ask({ do: 'insert', index, cellType, ...content })) as InsertedCell | undefined;
      if (made) view.goTo(made.cellId, mode);
    },

    insertBeside(by: 0 | 1): void {
      void commands.insert(selectedIndex() + by, 'code', 'command');
    },

    /** Above a cell, or behind the last one. */
    insertBefore(cellId: string | undefined, type: CellType): void {
      void commands.insert(cellId === undefined ? store.cells.length : store.indexOf(cellId), type, 'edit');
    },

    setType(cellType: CellType): void {
      const cell = selected();
      if (!cell) return;
      // A text cell that was code shows its source: what it looks like as text is for the person to ask for.
      if (cellType === 'markdown') view.find(cell.id)?.setOpen(true);
      void commands.ask({ do: 'setType', cellId: cell.id, cellType });
    },

    move(by: -1 | 1): void {
      const cell = selected();
      const index = selectedIndex() + by;
      if (cell && index >= 0 && index < store.cells.length) void commands.ask({ do: 'move', cellId: cell.id, index });
    },

    clearOutputs(): void {
      const { cellId } = selection;
      if (cellId !== undefined) void commands.ask({ do: 'clearOutputs', cellId });
    },

    async remove(): Promise<void> {
      const cell = selected();
      if (!cell) return;
      // What was typed last belongs to what Z puts back.
      await drafts.flush(cell.id).catch(() => {});
      await commands.ask({ do: 'delete', cellId: cell.id });
    },

    async undoDelete(): Promise<void> {
      const put = (await commands.ask({ do: 'undoDelete' })) as InsertedCell | undefined;
      if (put) commands.show(put.cellId);
    },

    copy(): void {
      const cell = selected();
      if (cell) clipboard = { ...cell, source: drafts.textOf(cell) };
    },

    cut(): void {
      commands.copy();
      void commands.remove();
    },

    paste(): void {
      if (!clipboard) return;
      const { type, source, metadata, attachments, outputs, executionCount } = clipboard;
      const more = { metadata, ...(attachments ? { attachments } : {}), ...(type === 'code' ? { outputs, executionCount } : {}) };
      void commands.insert(selectedIndex() + 1, type, 'command', { source, more });
    },

    async save(): Promise<void> {
      await drafts.flushAll().catch(() => {});
      await commands.ask({ do: 'save' });
    },

    interrupt(): void {
      void commands.ask({ do: 'interrupt' });
    },

    stop(): void {
      void commands.ask({ do: 'stop' });
    },

    async restart(): Promise<void> {
      const detail = 'All variables are lost. What runs is stopped, what waits does not run. Cells and outputs stay.';
      if (await confirm('Restart the kernel?', { yes: 'Restart', detail })) await commands.ask({ do: 'restart' });
    },
  };
  return commands;
}
