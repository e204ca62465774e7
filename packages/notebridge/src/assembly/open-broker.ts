import { join } from 'node:path';
import { Broker, type BrokerNotebook, type NotebookOpening } from '../broker/broker.js';
import type { NotebookAddress } from '../broker/notebook-address.js';
import { hasProcessEnded, ownProcessName, ownUserId } from '../processes/own-user.js';
import { withFileLock } from '../state/file-lock.js';
import { ownVersion } from '../state/own-files.js';
import { ensurePrivateDir } from '../state/private-file.js';
import type { BrokerOpener, OpenBrokerOptions } from './notebooks/broker-opener.js';
import { BrokerPages } from './notebooks/broker-page.js';

/** Each is loaded with the first notebook of its kind. */
const openers: Record<Exclude<NotebookAddress['kind'], 'page'>, BrokerOpener> = {
  'built-in': async (...args) => (await import('./notebooks/broker-built-in.js')).openBrokerBuiltIn(...args),
  jupyter: async (...args) => (await import('./notebooks/broker-jupyter.js')).openBrokerJupyter(...args),
};

/** The user's broker, in this process; undefined if there is one already. Rejects with `write_failed`. */
export async function openBroker(options: OpenBrokerOptions): Promise<Broker | undefined> {
  const { stateDir: dir, idleMs, logger } = options;
  ensurePrivateDir(dir, { uid: ownUserId() });
  const pages = new BrokerPages(options);
  const open = (opening: NotebookOpening): Promise<BrokerNotebook> =>
    opening.address.kind === 'page' ? pages.open(opening) : openers[opening.address.kind](opening, options);
  const broker = await withFileLock(
    join(dir, 'broker.lock'),
    (lock) => Broker.open({ dir, version: ownVersion(), idleMs, open, isAlone: () => lock.isHeld(), logger }),
    { owner: { name: ownProcessName(), hasEnded: hasProcessEnded } },
  );
  if (broker === undefined) return undefined;
  void pages.restore();
  void broker.ended.then(() => pages.close());
  return broker;
}
