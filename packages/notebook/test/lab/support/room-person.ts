import * as Y from 'yjs';

interface TextCell {
  id: string;
  source: string;
}

/** A person as one more client of a room: what is typed is in the document at once, and reaches the others by the room. */
export function joinRoom(document: Y.Doc, newId: () => string) {
  const shared = document.getArray<Y.Map<unknown>>('cells');
  const cells = (): TextCell[] => shared.map((cell) => ({ id: String(cell.get('id')), source: String(cell.get('source')) }));
  const at = (cellId: string): number => cells().findIndex(({ id }) => id === cellId);
  const toShared = (id: string, source: string): Y.Map<unknown> => {
    const cell = new Y.Map<unknown>(Object.entries({ id, cell_type: 'code', execution_count: null }));
    cell.set('source', new Y.Text(source));
    cell.set('metadata', new Y.Map());
    cell.set('outputs', new Y.Array());
    return cell;
  };
  const asPerson = (act: () => void): void => document.transact(act, 'person');
  return {
    cells,
    /** Called with what the others have changed. Never ends: it lives as long as the document. */
    onOthers(listener: (before: readonly TextCell[], after: readonly TextCell[]) => void): void {
      let last = cells();
      document.on('afterTransaction', ({ origin }: Y.Transaction) => {
        const now = cells();
        if (origin !== 'person') listener(last, now);
        last = now;
      });
    },
    // As an editor does: what stays the same is not touched.
    edit(cellId: string, source: string): void {
      const text = shared.get(at(cellId)).get('source') as Y.Text;
      const old = String(text);
      let head = 0;
      while (head < Math.min(old.length, source.length) && old[head] === source[head]) head++;
      let tail = 0;
      while (tail < Math.min(old.length, source.length) - head && old.at(-1 - tail) === source.at(-1 - tail)) tail++;
      asPerson(() => {
        text.delete(head, old.length - head - tail);
        text.insert(head, source.slice(head, source.length - tail));
      });
    },
    add: (index: number, source: string) => asPerson(() => shared.insert(Math.min(index, shared.length), [toShared(newId(), source)])),
    remove: (cellId: string) => asPerson(() => shared.delete(at(cellId), 1)),
    move: (cellId: string, index: number) =>
      asPerson(() => {
        const from = at(cellId);
        const copy = shared.get(from).clone();
        shared.delete(from, 1);
        shared.insert(Math.min(index, shared.length), [copy]);
      }),
  };
}
