import { BridgeError } from '../../core/errors.js';
import { findHub } from '../client/open-source.js';
import { asTyped } from '../own-command.js';

/** The hub that runs. Rejects with `closed` if there is none. */
export async function ownHub(): Promise<{ url: string; token: string }> {
  const hub = await findHub();
  if (hub !== undefined) return hub;
  throw new BridgeError('closed', asTyped('No hub of yours runs. One is started by: notebridge serve'));
}
