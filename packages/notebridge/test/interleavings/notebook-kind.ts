import type { Provider } from '@notebridge/protocol/core/provider';

export interface TextCell {
  id: string;
  source: string;
}

/** A notebook with agents at its provider and a person at the other side, whatever is between. */
export interface NotebookKind extends AsyncDisposable {
  provider: Provider;
  /** As the person has it at this moment, or has saved it. */
  cells(): readonly TextCell[];
  /** The edits of the person. Each is there at once, on the person's side. */
  person: {
    edit(cellId: string, source: string): void;
    add(index: number, source: string): void;
    remove(cellId: string): void;
    move(cellId: string, index: number): void;
  };
  /** Called with all texts as they were before and are after a write that is not the person's. */
  onAgentWrite: (before: readonly TextCell[], after: readonly TextCell[]) => void;
  /** The tools during whose calls the person's newest words are not seen by whoever writes. */
  window: ReadonlySet<string>;
}
