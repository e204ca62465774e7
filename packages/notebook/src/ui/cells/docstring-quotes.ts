import { syntaxTree } from '@codemirror/language';
import { type EditorState, Prec } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

/**
 * Three quotes are typed as three: the closing of brackets, which comes after this, would make six of them, and would put two where
 * a docstring ends.
 */
export const docstringQuotes = Prec.high(
  EditorView.inputHandler.of((view, from, to, text) => {
    if ((text !== '"' && text !== "'") || from !== to) return false;
    const isThird = view.state.sliceDoc(Math.max(0, from - 2), from) === text + text;
    if (!isThird && !isInDocstring(view.state, from)) return false;
    view.dispatch({ changes: { from, insert: text }, selection: { anchor: from + 1 }, userEvent: 'input.type' });
    return true;
  }),
);

function isInDocstring(state: EditorState, position: number): boolean {
  for (let node = syntaxTree(state).resolveInner(position, -1); ; ) {
    const start = /^[a-z]{0,2}("""|''')/i.exec(state.sliceDoc(node.from, node.from + 5));
    if (start && node.name.endsWith('String') && position >= node.from + start[0].length) return true;
    if (!node.parent) return false;
    node = node.parent;
  }
}
