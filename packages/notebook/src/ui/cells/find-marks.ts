import { Decoration, type DecorationSet, type EditorView, MatchDecorator, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import { Listeners } from '@notebridge/kit/listeners';

/** What is looked for in all cells; undefined: nothing. */
const queries = new Listeners<RegExp | undefined>();
let query: RegExp | undefined;

/** Marks what is found in every editor, and in those that come. */
export function markFound(pattern: RegExp | undefined): void {
  query = pattern;
  queries.emit(pattern);
}

class FindMarks {
  decorations: DecorationSet = Decoration.none;
  readonly #stopListening: () => void;
  #decorator: MatchDecorator | undefined;

  constructor(view: EditorView) {
    this.#look(view);
    this.#stopListening = queries.add(() => {
      this.#look(view);
      // Drawn with the next update, which this is.
      view.dispatch({});
    });
  }

  update(update: ViewUpdate): void {
    if (this.#decorator && (update.docChanged || update.viewportChanged || update.selectionSet))
      this.decorations = this.#decorator.createDeco(update.view);
  }

  destroy(): void {
    this.#stopListening();
  }

  #look(view: EditorView): void {
    this.#decorator = query && new MatchDecorator({ regexp: query, decoration: markOf });
    this.decorations = this.#decorator?.createDeco(view) ?? Decoration.none;
  }
}

const mark = Decoration.mark({ class: 'found' });
/** The one at which the person is. */
const here = Decoration.mark({ class: 'found found-here' });

function markOf([text]: RegExpExecArray, { state }: EditorView, from: number): Decoration | null {
  if (text === '') return null;
  const { main } = state.selection;
  return main.from === from && main.to === from + text.length ? here : mark;
}

export const findMarks = ViewPlugin.fromClass(FindMarks, { decorations: (marks) => marks.decorations });
