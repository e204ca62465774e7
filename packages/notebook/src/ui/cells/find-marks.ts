import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import { Listeners } from '@notebridge/kit/listeners';

/** A place in a cell's text. */
export interface FoundPlace {
  readonly cellId: string;
  readonly from: number;
  readonly to: number;
}

const changes = new Listeners<void>();
let placesOf: ReadonlyMap<string, readonly FoundPlace[]> = new Map();

/** Marks what was found in every editor, and in those that come. */
export function markFound(found: readonly FoundPlace[]): void {
  if (found.length === 0 && placesOf.size === 0) return;
  placesOf = Map.groupBy(found, ({ cellId }) => cellId);
  changes.emit();
}

class FindMarks {
  decorations: DecorationSet;
  readonly #cellId: string;
  readonly #stopListening: () => void;

  constructor(view: EditorView, cellId: string) {
    this.#cellId = cellId;
    this.decorations = this.#marks(view);
    this.#stopListening = changes.add(() => {
      this.decorations = this.#marks(view);
      // Drawn with the next update, which this is.
      view.dispatch({});
    });
  }

  /** Until it is counted anew, a mark goes where its text goes. */
  update({ docChanged, selectionSet, changes: edits, view }: ViewUpdate): void {
    if (docChanged) this.decorations = this.decorations.map(edits);
    else if (selectionSet && this.decorations.size > 0) this.decorations = this.#marks(view);
  }

  destroy(): void {
    this.#stopListening();
  }

  #marks({ state }: EditorView): DecorationSet {
    const { main } = state.selection;
    const places = (placesOf.get(this.#cellId) ?? []).filter(({ to }) => to <= state.doc.length);
    return Decoration.set(places.map(({ from, to }) => (main.from === from && main.to === to ? here : mark).range(from, to)));
  }
}

const mark = Decoration.mark({ class: 'found' });
/** The one at which the person is. */
const here = Decoration.mark({ class: 'found found-here' });

export function findMarks(cellId: string) {
  return ViewPlugin.define((view) => new FindMarks(view, cellId), { decorations: (marks) => marks.decorations });
}
