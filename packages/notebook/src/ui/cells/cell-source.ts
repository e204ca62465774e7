import type { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { CellType } from '../../model/cell.js';
import { el } from '../dom.js';
import { shownText } from '../outputs/text-output.js';
import { isMostlyUnseen, visible, visibleNodes } from '../visible.js';
import { createEditor, type EditorOptions, setLabel, setLanguage, setLineNumbers, showText } from './editor.js';

/** Of a text that stands there until its editor does. An editor lays out what can be seen, and this one all of it. */
const maxPlain = 5000;

/** A cell's text: plain while nobody can see it, an editor while somebody can. Two thousand editors would be too many. */
export class CellSource {
  readonly element = el('div', { class: 'source' });
  hasLineNumbers = false;
  readonly #options: Omit<EditorOptions, 'label'>;
  #text: string;
  #type: CellType;
  #label = '';
  #editor: EditorView | undefined;
  /** What a sleeping editor leaves: its undo history and its cursor. */
  #left: EditorState | undefined;
  /** Why this text is shown and not edited. */
  #unfit: string | undefined;

  constructor(options: Omit<EditorOptions, 'label'>) {
    this.#options = options;
    this.#text = options.text;
    this.#type = options.type;
    this.#unfit = unfitness(options.text);
    this.#showPlain();
  }

  get hasFocus(): boolean {
    return this.#editor?.hasFocus ?? false;
  }

  get text(): string {
    return this.#editor?.state.doc.toString() ?? this.#text;
  }

  /** Where the person would type, in UTF-16 units; undefined before anybody was in this text. */
  get cursor(): number | undefined {
    return (this.#editor?.state ?? this.#left)?.selection.main.head;
  }

  /** The editor, while there is one. */
  get editor(): EditorView | undefined {
    return this.#editor;
  }

  /** As if the person had typed it, at the cursor. */
  type(text: string): void {
    const editor = this.#editor;
    editor?.dispatch(editor.state.replaceSelection(text), { userEvent: 'input.type', scrollIntoView: true });
  }

  /** Brings a part of the text into view and selects it, without taking the keyboard. */
  reveal(from: number, to: number): void {
    this.wake()?.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
  }

  setLineNumbers(areShown: boolean): void {
    this.hasLineNumbers = areShown;
    this.element.classList.toggle('numbered', areShown);
    if (this.#editor) setLineNumbers(this.#editor, areShown);
  }

  /** Undefined for a text that is only shown. */
  wake(): EditorView | undefined {
    if (this.#editor || this.#unfit) return this.#editor;
    const now = { text: this.#text, type: this.#type, label: this.#label };
    const editor = this.#left ? this.#reopen(this.#left) : createEditor({ ...this.#options, ...now });
    this.#left = undefined;
    this.#editor = editor;
    if (this.hasLineNumbers) setLineNumbers(editor, true);
    this.element.replaceChildren(editor.dom);
    return editor;
  }

  /** Text, type and number may have changed while it slept. */
  #reopen(state: EditorState): EditorView {
    const editor = new EditorView({ state });
    showText(editor, this.#text);
    setLanguage(editor, this.#type);
    setLabel(editor, this.#label);
    setLineNumbers(editor, this.hasLineNumbers);
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
    this.#unfit = unfitness(text);
    if (this.#unfit) {
      this.#editor?.destroy();
      this.#editor = undefined;
      this.#left = undefined;
    }
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
    editor?.focus();
    if (at) editor?.dispatch({ selection: { anchor: at === 'start' ? 0 : editor.state.doc.length }, scrollIntoView: true });
  }

  #showPlain(): void {
    if (this.#unfit) return this.#showOnly(this.#unfit);
    const text = this.#text.length <= maxPlain ? this.#text : `${this.#text.slice(0, maxPlain)}…`;
    this.element.replaceChildren(el('pre', { class: 'plain-source' }, ...visibleNodes(text)));
  }

  #showOnly(reason: string): void {
    const note = el('div', { class: 'not-loaded' }, `This source is shown, and cannot be edited here: ${reason}.`);
    this.element.replaceChildren(note, shownText('only-shown', visible(this.#text)));
  }
}

const maxLine = 50_000;

/** What an editor would work on for seconds. */
function unfitness(text: string): string | undefined {
  if (isMostlyUnseen(text)) return 'too much of it cannot be seen';
  for (let from = 0, to = 0; from < text.length; from = to + 1) {
    const end = text.indexOf('\n', from);
    to = end === -1 ? text.length : end;
    if (to - from > maxLine) return `a line of it has more than ${maxLine.toLocaleString('en')} characters`;
  }
  return undefined;
}
