import { revOf } from '@notebridge/protocol/runs/cell-rev';
import type { Cell, CellType } from '../model/cell.js';
import type { InsertedCell, InsertedCells, PastedCell, ViewerAction } from '../viewer/protocol.js';
import type { WindowParts } from './window-parts.js';

/** Characters of one message of a window, with room for what surrounds it. */
const maxPasted = 14_000_000;

/** What a person does with the selected cells, one or several. */
export function createCellCommands({ store, drafts, selection, view, holdKeys, complain, ask }: WindowParts) {
  let clipboard: readonly PastedCell[] = [];
  const selected = () => selection.among(store.cells);
  const indexOf = (cell: Cell | undefined) => store.indexOf(cell?.id ?? '');

  /** What was typed last belongs to what is done next. */
  const flush = (cells: readonly Cell[]) => Promise.all(cells.map(({ id }) => drafts.flush(id).catch(() => {})));

  /** Asks for a change of cells; keys wait until it is there. */
  const change = (cells: readonly Cell[], action: () => ViewerAction): Promise<unknown> => holdKeys(flush(cells).then(() => ask(action())));

  const commands = {
    setType(cellType: CellType): void {
      for (const { id } of selected()) {
        // A text cell that was code shows its source: what it looks like as text is for the person to ask for.
        if (cellType === 'markdown') view.find(id)?.setOpen(true);
        void ask({ do: 'setType', cellId: id, cellType });
      }
    },

    /** The cell beside them goes to their other side: one step, however many there are. */
    move(by: -1 | 1): void {
      const cells = selected();
      const [first, last] = [indexOf(cells[0]), indexOf(cells.at(-1))];
      const neighbour = store.cells[by === -1 ? first - 1 : last + 1];
      if (cells.length === 0 || !neighbour) return;
      const [only] = cells;
      if (cells.length === 1 && only) void ask({ do: 'move', cellId: only.id, index: first + by });
      else void ask({ do: 'move', cellId: neighbour.id, index: by === -1 ? last : first });
    },

    clearOutputs(): void {
      for (const { id, type } of selected()) if (type === 'code') void ask({ do: 'clearOutputs', cellId: id });
    },

    clearAllOutputs(): void {
      for (const { id, type, outputs, executionCount } of store.cells)
        if (type === 'code' && (outputs.length > 0 || executionCount !== null)) void ask({ do: 'clearOutputs', cellId: id });
    },

    async remove(): Promise<void> {
      const cells = selected();
      const next = store.cells[indexOf(cells.at(-1)) + 1] ?? store.cells[indexOf(cells[0]) - 1];
      if (cells.length === 0) return;
      await change(cells, () => ({ do: 'delete', cellIds: cells.map(({ id }) => id) }));
      if (next && !cells.some(({ id }) => store.document.find(id))) view.goTo(next.id, 'command');
    },

    async undoStep(): Promise<void> {
      const put = (await holdKeys(ask({ do: 'undoStep' }))) as InsertedCell | undefined;
      if (put) view.goTo(put.cellId, 'command');
    },

    copy(): void {
      clipboard = selected().map((cell) => toPasted(cell, drafts.textOf(cell)));
    },

    async cut(): Promise<void> {
      commands.copy();
      await commands.remove();
    },

    async paste(where: 'above' | 'below' = 'below'): Promise<void> {
      if (clipboard.length === 0) return;
      const cells = selected();
      const index = where === 'above' ? indexOf(cells[0]) : indexOf(cells.at(-1)) + 1;
      const isTooLarge = JSON.stringify(clipboard).length > maxPasted;
      if (isTooLarge) complain('The outputs are too large to be pasted; the cells are pasted without them.');
      const pasted = isTooLarge ? clipboard.map(({ cellType, source }) => ({ cellType, source })) : clipboard;
      const made = (await change([], () => ({ do: 'paste', index: Math.max(0, index), cells: pasted }))) as InsertedCells | undefined;
      const [first, last] = [made?.cellIds[0], made?.cellIds.at(-1)];
      if (first === undefined || last === undefined) return;
      view.goTo(last, 'command');
      selection.setRange(first, last);
    },

    /** At the cursor; outputs stay below. */
    async split(): Promise<void> {
      const cell = store.document.find(selection.cellId ?? '');
      const at = view.find(cell?.id)?.source.cursor;
      if (!cell || at === undefined) return complain('Place the cursor where the cell is to be split, then split it.');
      const rev = () => revOf(store.document.find(cell.id) ?? cell);
      const made = await change([cell], () => ({ do: 'split', cellId: cell.id, at, expectedRev: rev() }));
      if (made) view.goTo(cell.id, 'edit', 'start');
    },

    /** The selected ones; one alone goes together with the one below. */
    async merge(): Promise<void> {
      const cells = selected();
      const below = store.cells[indexOf(cells.at(-1)) + 1];
      const parts = cells.length === 1 && below ? [...cells, below] : cells;
      if (parts.length < 2) return;
      const made = (await change(parts, () => ({ do: 'merge', cellIds: parts.map(({ id }) => id) }))) as InsertedCell | undefined;
      if (made) view.goTo(made.cellId, 'command');
    },

    extend(by: -1 | 1): void {
      const next = store.cells[store.indexOf(selection.cellId ?? '') + by];
      if (!next) return;
      selection.extendTo(next.id);
      view.find(next.id)?.focus();
    },

    selectAll(): void {
      const [first, last] = [store.cells[0], store.cells.at(-1)];
      if (first && last) selection.setRange(first.id, last.id);
    },
  };
  return commands;
}

function toPasted({ type, metadata, attachments, outputs, executionCount }: Cell, source: string): PastedCell {
  const kept = type === 'code' ? { outputs, executionCount } : attachments ? { attachments } : {};
  return { cellType: type, source, metadata, ...kept };
}
