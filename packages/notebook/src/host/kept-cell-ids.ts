import type { KnownCell } from '../model/cell-ids.js';
import { keptByNotebook } from './kept-files.js';

/** The ids of the cells of notebooks whose files have none, so that they are the same after a restart. */
export interface KeptCellIds {
  /** Undefined for a notebook of which nothing is kept. */
  read(notebook: string): Promise<readonly KnownCell[] | undefined>;
  write(notebook: string, cells: readonly KnownCell[]): Promise<void>;
}

export function cellIdsIn(folder: string): KeptCellIds {
  const kept = keptByNotebook(folder);
  return {
    read: async (notebook) => asKnown(await kept.read(notebook)),
    write: (notebook, cells) =>
      kept.write(
        notebook,
        cells.map(({ id, rev }) => [id, rev]),
      ),
  };
}

function asKnown(found: unknown): KnownCell[] | undefined {
  const isPair = (entry: unknown) => Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'number';
  return Array.isArray(found) && found.every(isPair) ? found.map(([id, rev]) => ({ id, rev })) : undefined;
}
