import type { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { CellType } from '../../model/cell.js';
import { el } from '../dom.js';
import { createEditor, type NotebookKeys, setLabel, setLanguage, showText } from './editor.js';

export interface CellSourceOptions {
  type: CellType;
  text: string;
  keys: NotebookKeys;
  onEdit: (text: string) => void;
  onFocus: () => void;
}

/** A cell's text: plain while nobody can see it, an editor while somebody can. Two thousand editors would be too many. */
export class CellSource {
  readonly element = el('div', { class: 'source' });
  readonly #options: CellSourceOptions;
  #text: string;
  #type: CellType;
  #label = '';
  #editor: EditorView | undefined;
  /** What a sleeping editor leaves: its undo history and its cursor. */
  #left: EditorState | undefined;

  constructor(options: CellSourceOptions) {
    this.#options = options;
    this.#text = options.text;
    this.#type = options.type;
    this.#showPlain();
  }

  get hasFocus(): boolean {
    return this.#editor?.hasFocus ?? false;
  }

  get text(): string {
    return this.#editor?.state.doc.toString() ?? this.#text;
  }

  wake(): EditorView {
    if (this.#editor) return this.#editor;
    const editor = this.#left ? this.#reopen(this.#left) : this.#create();
    this.#left = undefined;
    this.#editor = editor;
    this.element.replaceChildren(editor.dom);
    return editor;
  }

  sleep(): void {
    if (!this.#editor || this.hasFocus) return;
    this.#left = this.#editor.state;
    this.#text = this.text;
    this.#editor.destroy();
    this.#editor = undefined;
    this.#showPlain();
  }

  /** Shows a text that was not typed here. */
  show(text: string): void {
    if (text === this.text) return;
    this.#text = text;
    if (this.#editor) showText(this.#editor, text);
    else this.#showPlain();
  }

  setType(type: CellType): void {
    if (type === this.#type) return;
    this.#type = type;
    if (this.#editor) setLanguage(this.#editor, type);
  }

  setLabel(label: string): void {
    if (label === this.#label) return;
    this.#label = label;
    if (this.#editor) setLabel(this.#editor, label);
  }

  /** `at`: where the cursor goes when the arrow keys bring the person here from another cell. */
  focus(at?: 'start' | 'end'): void {
    const editor = this.wake();
    editor.focus();
    if (at) editor.dispatch({ selection: { anchor: at === 'start' ? 0 : editor.state.doc.length }, scrollIntoView: true });
  }

  #create(): EditorView {
    const { keys, onEdit, onFocus } = this.#options;
    return createEditor({ text: this.#text, type: this.#type, label: this.#label, keys, onEdit, onFocus });
  }

  /** Text, type and number may have changed while it slept. */
  #reopen(state: EditorState): EditorView {
    const editor = new EditorView({ state });
    showText(editor, this.#text);
    setLanguage(editor, this.#type);
    setLabel(editor, this.#label);
    return editor;
  }

  #showPlain(): void {
    this.element.replaceChildren(el('pre', { class: 'plain-source' }, this.#text));
  }
}
