import type { EditorView } from '@codemirror/view';
import type { CellType } from '../model/cell.js';
import type { InsertedCell } from '../viewer/protocol.js';
import { createCellCommands } from './cell-commands.js';
import { createRunCommands } from './run-commands.js';
import type { Mode } from './state/selection.js';
import type { WindowParts } from './window-parts.js';

const numbersKey = 'notebridge-line-numbers';

/** Everything that a person can do, whether by key or by button. */
export type Commands = ReturnType<typeof createCommands>;

export function createCommands(parts: WindowParts) {
  const { store, drafts, selection, view, holdKeys, documentation, openFind, ask } = parts;
  const selectedIndex = () => store.indexOf(selection.cellId ?? '');
  /** Behind the last one that is selected. */
  const indexBelow = () => store.indexOf(selection.among(store.cells).at(-1)?.id ?? '') + 1;
  let areNumbered = localStorage.getItem(numbersKey) === 'on';
  view.showLineNumbers(undefined, areNumbered);

  const commands = {
    ask,
    // biome-ignore lint/nursery/noMisusedPromises: it is an object with methods, which the rule takes for a promise.
    ...createRunCommands(parts),
    ...createCellCommands(parts),

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
      const made = (await holdKeys(ask({ do: 'insert', index, cellType, source }))) as InsertedCell | undefined;
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
      view.find(selection.cellId)?.source.type(text);
    },

    /** A selection within a line is what is looked for. */
    find(): void {
      const state = view.find(selection.cellId)?.source.editor?.state;
      const text = state?.sliceDoc(state.selection.main.from, state.selection.main.to) ?? '';
      openFind(text.includes('\n') || text.length > 200 ? '' : text);
    },

    /** False: the key means something else here. */
    document(editor: EditorView): boolean {
      return documentation.press(editor);
    },

    async documentHere(): Promise<void> {
      const editor = view.find(selection.cellId)?.source.editor;
      editor?.focus();
      if (editor) await documentation.show(editor);
    },

    areLinesNumbered: () => areNumbered,

    toggleLineNumbers(where: 'cell' | 'all'): void {
      if (where === 'cell') return view.showLineNumbers(selection.cellId, !view.find(selection.cellId)?.source.hasLineNumbers);
      areNumbered = !areNumbered;
      localStorage.setItem(numbersKey, areNumbered ? 'on' : 'off');
      view.showLineNumbers(undefined, areNumbered);
    },

    async save(): Promise<void> {
      await drafts.flushAll().catch(() => {});
      await ask({ do: 'save' });
    },
  };
  return commands;
}
