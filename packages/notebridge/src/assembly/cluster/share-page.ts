import type { Provider } from '@notebridge/protocol/core/provider';
import type { NotebookEntry } from '../../notebooks/selection/notebook-directory.js';
import type { ClusterPages } from './cluster-pages.js';
import { FirstPage } from './first-page.js';
import type { HeldPage, PageOfHub } from './held-page.js';
import { type ClusterPageOptions, openClusterPage } from './open-cluster-page.js';
import { linkToPage } from './pages-directory.js';

/** The page that a hub began with, as one of its cluster's. */
export interface SharedPage {
  id: string;
  /** For its agents, wherever it is. */
  provider: Provider;
  /** Writes what other hubs are to know of it; see `HeldPage`. */
  save: () => Promise<boolean>;
  /** Undefined: it is at another hub. */
  describe: () => Omit<NotebookEntry, 'id'> | undefined;
  endSession: (sessionId: string) => void;
  /** Lets other hubs have it, and all other pages that are here. */
  close: () => Promise<void>;
}

/** From now on pages come here from other hubs, and this one may go there. */
export function sharePage(pages: ClusterPages, own: PageOfHub, options: ClusterPageOptions): SharedPage {
  pages.start((kept) => openClusterPage(kept, options));
  const held: HeldPage = pages.add(own);
  const provider = new FirstPage(held, () => linkToPage(held.id, pages));
  return {
    id: held.id,
    provider,
    save: () => held.save(),
    describe: () => (held.isGone ? undefined : own.describe()),
    endSession: (sessionId) => {
      own.endSession(sessionId);
      provider.endSession(sessionId);
    },
    close: async () => {
      await pages.close();
      provider.close();
    },
  };
}
