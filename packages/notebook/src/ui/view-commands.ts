import type { EditorView } from '@codemirror/view';
import type { NotebookView } from './cells/notebook-view.js';
import type { Documentation } from './frame/documentation.js';
import type { Selection } from './state/selection.js';

export interface ViewCommandsOptions {
  view: NotebookView;
  selection: Selection;
  documentation: Documentation;
  openFind: (text?: string) => void;
}

const storageKey = 'notebridge-line-numbers';

/** What changes how the notebook is seen, and not the notebook. */
export function createViewCommands({ view, selection, documentation, openFind }: ViewCommandsOptions) {
  let areNumbered = localStorage.getItem(storageKey) === 'on';
  view.showLineNumbers(undefined, areNumbered);

  return {
    /** A selection within a line is what is looked for. */
    find(): void {
      const state = view.find(selection.cellId)?.editor?.state;
      const text = state?.sliceDoc(state.selection.main.from, state.selection.main.to) ?? '';
      openFind(text.includes('\n') || text.length > 200 ? '' : text);
    },

    /** False: the key means something else here. */
    document(editor: EditorView): boolean {
      return documentation.press(editor);
    },

    async documentHere(): Promise<void> {
      const editor = view.find(selection.cellId)?.editor;
      if (!editor) return;
      editor.focus();
      await documentation.show(editor);
    },

    get areLinesNumbered(): boolean {
      return areNumbered;
    },

    toggleLineNumbers(where: 'cell' | 'all'): void {
      if (where === 'cell') {
        const cell = view.find(selection.cellId);
        return view.showLineNumbers(selection.cellId, !cell?.hasLineNumbers);
      }
      areNumbered = !areNumbered;
      localStorage.setItem(storageKey, areNumbered ? 'on' : 'off');
      view.showLineNumbers(undefined, areNumbered);
    },
  };
}
