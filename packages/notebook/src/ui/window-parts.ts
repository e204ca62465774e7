import type { NotebookView } from './cells/notebook-view.js';
import type { Documentation } from './frame/documentation.js';
import type { HoldKeys } from './held-keys.js';
import type { AskHost, Complain } from './link/connection.js';
import type { Drafts } from './state/drafts.js';
import type { Selection } from './state/selection.js';
import type { Store } from './state/store.js';

/** What commands work with. */
export interface WindowParts {
  store: Store;
  drafts: Drafts;
  selection: Selection;
  view: NotebookView;
  holdKeys: HoldKeys;
  documentation: Documentation;
  openFind: (text?: string) => void;
  ask: AskHost;
  complain: Complain;
  /** Says something that is no fault. */
  inform: (message: string | undefined, cellId?: string) => void;
}
