import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands';
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { Annotation, Compartment, EditorState, type Extension, Transaction } from '@codemirror/state';
import { drawSelection, EditorView, highlightSpecialChars, type KeyBinding, keymap, lineNumbers, tooltips } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import type { CellType } from '../../model/cell.js';
import { diffLines } from '../state/merge-lines.js';
import { unseenCharacters, unseenMark } from '../visible.js';
import { docstringQuotes } from './docstring-quotes.js';
import { findMarks } from './find-marks.js';
import { type AskCompletions, completeByKernel } from './kernel-completion.js';
import { languageOf } from './languages.js';

/** The keys of the notebook: those that go before the editor's own, and those that come behind them. */
export interface NotebookKeys {
  readonly first: readonly KeyBinding[];
  readonly last: readonly KeyBinding[];
}

export interface EditorOptions {
  cellId: string;
  text: string;
  type: CellType;
  label: string;
  keys: NotebookKeys;
  onEdit: (text: string) => void;
  onFocus: () => void;
  complete: AskCompletions;
}

/** Marks a change that was not typed here: it is not sent back. */
const fromOutside = Annotation.define<boolean>();
const language = new Compartment();
const labelling = new Compartment();
const numbering = new Compartment();
const maxColoured: { readonly [type in CellType]: number } = { code: 500_000, markdown: 8000, raw: 0 };

/** CodeMirror adds style elements of its own; the policy of the page lets in those with the nonce that the page came with. */
const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';

/** A CodeMirror editor for one cell. */
export function createEditor({ cellId, text, type, label, keys, onEdit, onFocus, complete }: EditorOptions): EditorView {
  return new EditorView({
    state: EditorState.create({
      doc: text,
      extensions: [
        nonce ? EditorView.cspNonce.of(nonce) : [],
        keymap.of([
          ...keys.first,
          ...tabKeys,
          ...completionKeymap,
          ...closeBracketsKeymap,
          ...keys.last,
          ...defaultKeymap,
          ...historyKeymap,
        ]),
        history(),
        drawSelection(),
        // Code reads as it runs: what hides or reorders text is shown.
        highlightSpecialChars({ specialChars: unseenCharacters(), render: (code) => unseenMark(code) }),
        indentUnit.of('    '),
        indentOnInput(),
        bracketMatching(),
        type === 'code' ? [docstringQuotes, closeBrackets()] : [],
        // Only when asked for, as in Jupyter: a list that opens while one types makes Enter a gamble.
        autocompletion({ activateOnTyping: false, icons: false, override: [completeByKernel(complete)] }),
        // A list that stands in the cell would be cut off where the cell ends.
        tooltips({ parent: document.body, position: 'fixed' }),
        syntaxHighlighting(classHighlighter),
        EditorView.lineWrapping,
        EditorState.tabSize.of(4),
        language.of(languageFor(type, text.length)),
        labelling.of(contentAttributes(label)),
        numbering.of([]),
        findMarks(cellId),
        look,
        EditorView.updateListener.of((update) => {
          const isTyped = update.docChanged && !update.transactions.some((transaction) => transaction.annotation(fromOutside));
          if (isTyped) onEdit(update.state.doc.toString());
          if (update.focusChanged && update.view.hasFocus) onFocus();
        }),
      ],
    }),
  });
}

/**
 * Shows another text. Only the lines that differ change, so that the cursor stays where the person has it, and the person's
 * undo history takes back what the person typed and nothing else.
 */
export function showText(editor: EditorView, text: string): void {
  const { doc } = editor.state;
  const before = doc.toString();
  if (before === text) return;
  const startOf = (line: number) => (line < doc.lines ? doc.line(line + 1).from : doc.length + 1);
  const changes = diffLines(before, text).map(({ start, end, lines }) => {
    const [from, to, insert] = [startOf(start), startOf(end), lines.map((line) => `${line}\n`).join('')];
    // The last line has no line break behind it: there, the one before it is the one that comes and goes.
    if (to <= doc.length) return { from, to, insert };
    return from === 0
      ? { from, to: to - 1, insert: insert.slice(0, -1) }
      : { from: from - 1, to: to - 1, insert: `\n${insert}`.slice(0, -1) };
  });
  editor.dispatch({ changes, annotations: [fromOutside.of(true), Transaction.addToHistory.of(false)] });
}

export function setLanguage(editor: EditorView, type: CellType): void {
  editor.dispatch({ effects: language.reconfigure(languageFor(type, editor.state.doc.length)) });
}

/** Colours for texts that people write: the grammar of Markdown works on a whole paragraph at once, however long that is. */
function languageFor(type: CellType, length: number): Extension {
  return length <= maxColoured[type] ? languageOf(type) : [];
}

export function setLabel(editor: EditorView, label: string): void {
  editor.dispatch({ effects: labelling.reconfigure(contentAttributes(label)) });
}

export function setLineNumbers(editor: EditorView, areShown: boolean): void {
  editor.dispatch({ effects: numbering.reconfigure(areShown ? lineNumbers() : []) });
}

/** Enter leads into an editor. Tab goes past it, since inside it would not lead out. */
function contentAttributes(label: string): Extension {
  return EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '-1' });
}

/** Tab completes behind a word and indents elsewhere; Esc leaves the editor, so that Tab is no trap for the keyboard. */
const tabKeys: KeyBinding[] = [
  { key: 'Tab', run: acceptCompletion },
  { key: 'Tab', run: (view) => isBehindWord(view) && startCompletion(view) },
  { key: 'Tab', run: indentOrSpaces, shift: indentLess },
];

function isBehindWord({ state }: EditorView): boolean {
  const { main } = state.selection;
  return main.empty && /[\w.]/.test(state.sliceDoc(Math.max(0, main.from - 1), main.from));
}

function indentOrSpaces(view: EditorView): boolean {
  const { main } = view.state.selection;
  if (!main.empty) return indentMore(view);
  const column = main.from - view.state.doc.lineAt(main.from).from;
  view.dispatch(view.state.replaceSelection(' '.repeat(4 - (column % 4))));
  return true;
}

/** What the base theme would decide for itself; all else stands in `styles/code.css`. */
const look = EditorView.theme({
  '&': { backgroundColor: 'transparent', color: 'inherit' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { padding: '0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0' },
  '.cm-scroller': { fontFamily: 'inherit', lineHeight: 'inherit', overflow: 'visible' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--ink-soft)', border: '0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--ink)', borderLeftWidth: '1.5px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--selection)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--selection)', outline: 'none' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--ink)', border: '1px solid var(--line)', borderRadius: '6px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.1rem 0.6rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
});
