import { Decoration, type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import { Listeners } from '@notebridge/protocol/util/listeners';

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

const mark = Decoration.mark({ class: 'found' });
/** The one at which the person is. */
const here = Decoration.mark({ class: 'found found-here' });

export function findMarks(cellId: string) {
  const create = (view: EditorView) => {
    const marks = () => {
      const { main } = view.state.selection;
      const places = (placesOf.get(cellId) ?? []).filter(({ to }) => to <= view.state.doc.length);
      return Decoration.set(places.map(({ from, to }) => (main.from === from && main.to === to ? here : mark).range(from, to)));
    };
    const plugin = {
      decorations: marks(),
      /** Until it is counted anew, a mark goes where its text goes. */
      update({ docChanged, selectionSet, changes: edits }: ViewUpdate): void {
        if (docChanged) plugin.decorations = plugin.decorations.map(edits);
        else if (selectionSet && plugin.decorations.size > 0) plugin.decorations = marks();
      },
      destroy: changes.add(() => {
        plugin.decorations = marks();
        // Drawn with the next update, which this is.
        view.dispatch({});
      }),
    };
    return plugin;
  };
  return ViewPlugin.define(create, { decorations: (plugin) => plugin.decorations });
}
