import type { Cell } from '../model/cell.js';
import type { RanCells } from '../viewer/protocol.js';
import { confirm } from './frame/dialogs.js';
import type { WindowParts } from './window-parts.js';

/** `above`: all before the selected ones. `below`: they and all behind them. */
export type RunPart = 'all' | 'above' | 'below' | 'selected';

const lost = 'All variables are lost. What runs is stopped, what waits does not run. Cells and outputs stay.';

export function createRunCommands({ store, drafts, selection, view, ask, complain, inform }: WindowParts) {
  /** False if what was typed did not reach the host. */
  const flush = async (cellId?: string): Promise<boolean> => {
    try {
      await (cellId === undefined ? drafts.flushAll() : drafts.flush(cellId));
      return true;
    } catch (error) {
      complain((error as Error).message, cellId);
      return false;
    }
  };

  const commands = {
    async run(cellId = selection.cellId): Promise<void> {
      const cell = store.document.find(cellId ?? '');
      if (!cell) return;
      if (cell.type !== 'code') return view.find(cell.id)?.setOpen(false);
      if (await flush(cell.id)) await ask({ do: 'run', cellId: cell.id });
    },

    /** One, or all that are selected. */
    async runSelected(): Promise<void> {
      if (selection.among(store.cells).length < 2) return commands.run();
      await commands.runAll('selected');
    },

    /** The host has the list: it goes on when the window does not. Ends at the first cell that fails. */
    async runAll(part: RunPart = 'all', restart = false): Promise<void> {
      const cells = cellsOf(part, store.cells, selection.among(store.cells));
      if (cells.length === 0) return;
      for (const { id, type } of cells) if (type === 'markdown' && part === 'selected') view.find(id)?.setOpen(false);
      if (!(await flush())) return;
      inform(undefined);
      const [first, last] = [cells[0], cells.at(-1)];
      const ends = part === 'all' ? {} : { from: first?.id ?? '', to: last?.id ?? '' };
      const ran = (await ask({ do: 'runAll', ...ends, ...(restart ? { restart } : {}) })) as RanCells | undefined;
      const failed = store.indexOf(ran?.failedId ?? '');
      if (failed === -1) return;
      const left = store.cells.slice(failed + 1, store.indexOf(last?.id ?? '') + 1).filter(({ type }) => type === 'code').length;
      if (left > 0)
        inform(`Cell ${failed + 1} did not end well, so ${left === 1 ? 'one cell' : `${left} cells`} after it did not run.`, ran?.failedId);
      if (selection.mode === 'command') view.goTo(ran?.failedId, 'command');
    },

    async restart(): Promise<void> {
      if (await confirm('Restart the kernel?', { yes: 'Restart', detail: lost })) await ask({ do: 'restart' });
    },

    async restartAndRunAll(): Promise<void> {
      const detail = `${lost} Then all cells run, from the first on.`;
      if (await confirm('Restart the kernel and run all cells?', { yes: 'Restart and run all', detail }))
        await commands.runAll('all', true);
    },

    interrupt(): void {
      void ask({ do: 'interrupt' });
    },

    stop(): void {
      void ask({ do: 'stop' });
    },
  };
  return commands;
}

function cellsOf(part: RunPart, all: readonly Cell[], selected: readonly Cell[]): readonly Cell[] {
  if (part === 'all') return all;
  if (part === 'selected') return selected;
  const first = all.findIndex(({ id }) => id === selected[0]?.id);
  if (first === -1) return [];
  return part === 'above' ? all.slice(0, first) : all.slice(first);
}
