import type { Middleware } from '@notebridge/protocol/core/middleware';
import type { Logger } from '@notebridge/protocol/util/logger';
import { UndoMiddleware } from '../../../notebooks/changes/undo-middleware.js';
import { FitOutputsMiddleware } from '../../../notebooks/outputs/fit-outputs-middleware.js';
import type { PageClient } from '../../../notebooks/pages/page-client.js';
import type { PageProfile } from '../../../notebooks/profiles/profile.js';
import { ReadBeforeWriteMiddleware } from '../../../notebooks/reads/read-before-write.js';

export interface PageLayerOptions {
  client: PageClient;
  profile: PageProfile;
  /** False: no cell is read before a change: an agent's overwrites a person's newer one, and is not undone. */
  isJournalled: boolean;
  /** All agents of this process want outputs whole. Default: each says so with its calls. */
  isWhole?: boolean | undefined;
  logger: Logger;
}

/** What a page is given that its own tools do not have, outermost first: reads before changes, undo, outputs within an agent's budget. */
export function pageLayers({ client, profile, isJournalled, isWhole = false, logger }: PageLayerOptions): {
  layers: Middleware[];
  undo: UndoMiddleware | undefined;
} {
  // Changes of cells are known by the tools of the profile.
  const undo = isJournalled && profile.tools.length > 0 ? new UndoMiddleware({ client, profileTools: profile.tools, logger }) : undefined;
  const changes = undo === undefined ? [] : [new ReadBeforeWriteMiddleware({ readsRanges: false }), undo];
  return { layers: [...changes, new FitOutputsMiddleware({ logger, isListed: !isWhole })], undo };
}
