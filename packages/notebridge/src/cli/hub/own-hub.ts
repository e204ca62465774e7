import { BridgeError } from '../../core/errors.js';
import { askHub, type HubRequest } from '../client/hub-request.js';
import { findHub } from '../client/open-source.js';
import { asTyped } from '../own-command.js';

/** The hub of this user that runs. */
export interface OwnHub {
  url: string;
  /** Asks it as its owner. Rejects as `askHub`. */
  ask(path: string, more?: Omit<HubRequest, 'path' | 'token'>): Promise<unknown>;
}

/** A hub answers its owner at once. Milliseconds. */
const askMs = 10_000;

/** Rejects with `closed` if there is none; `consequence` is said behind that. */
export async function ownHub(consequence = ''): Promise<OwnHub> {
  const hub = await findHub();
  if (hub === undefined)
    throw new BridgeError('closed', asTyped(`No hub of yours runs${consequence}. One is started by: notebridge serve`));
  const { url, token } = hub;
  return { url, ask: (path, more) => askHub(url, { path, token, timeoutMs: askMs, ...more }) };
}
