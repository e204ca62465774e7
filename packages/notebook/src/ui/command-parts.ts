import type { ViewerAction } from '../viewer/protocol.js';
import type { NotebookView } from './cells/notebook-view.js';
import type { Documentation } from './frame/documentation.js';
import type { HeldKeys } from './held-keys.js';
import { type HostConnection, RequestFailed } from './link/connection.js';
import type { Drafts } from './state/drafts.js';
import type { Selection } from './state/selection.js';
import type { Store } from './state/store.js';

/** What commands work with. */
export interface CommandParts {
  store: Store;
  drafts: Drafts;
  selection: Selection;
  view: NotebookView;
  keys: HeldKeys;
  documentation: Documentation;
  openFind: (text?: string) => void;
  ask: Ask;
  complain: Complain;
  /** Says something that is no fault. */
  inform: (message: string | undefined, cellId?: string) => void;
}

/** Runs a request to its end, and shows a failure; undefined then. */
export type Ask = (action: ViewerAction) => Promise<unknown>;

/** Shows the person what went wrong. */
export type Complain = (message: string, cellId?: string) => void;

/** What ends a run without being news: the person or the agent wanted it so, and the cell shows it. */
const expectedEnds = new Set(['cancelled', 'cell_deleted', 'kernel_dead', 'kernel_failed', 'connection_lost']);

export function createAsk(connection: HostConnection, complain: Complain): Ask {
  return async (action) => {
    try {
      return await connection.request(action);
    } catch (error) {
      const code = error instanceof RequestFailed ? error.code : '';
      const isRun = action.do === 'run' || action.do === 'runAll';
      if (!(isRun && expectedEnds.has(code))) complain((error as Error).message, 'cellId' in action ? action.cellId : undefined);
      return undefined;
    }
  };
}
