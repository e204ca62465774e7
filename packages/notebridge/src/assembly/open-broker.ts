import { join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import { withFileLock } from '@notebridge/system/files/file-lock';
import { ownVersion } from '@notebridge/system/files/own-files';
import { ensurePrivateDir } from '@notebridge/system/files/private-file';
import { hasProcessEnded, ownProcessName, ownUserId } from '@notebridge/system/processes/own-user';
import { Broker, type BrokerNotebook, type NotebookOpening } from '../broker/broker.js';
import { createNotebridge } from './create-notebridge.js';
import { notebookKinds } from './notebooks/kinds.js';
import type { OpenBrokerOptions } from './notebooks/notebook-kind.js';

/** The user's broker, in this process; undefined if there is one already. Rejects with `write_failed`. */
export async function openBroker(options: OpenBrokerOptions): Promise<Broker | undefined> {
  const { stateDir: dir, idleMs, logger } = options;
  ensurePrivateDir(dir, { uid: ownUserId() });
  const kinds = new Map(notebookKinds.map((kind) => [kind.name, kind.held({ ...options, createBridge: createNotebridge })]));
  const open = async (opening: NotebookOpening): Promise<BrokerNotebook> => {
    const { kind } = opening.address;
    const held = kinds.get(kind);
    if (held === undefined) throw new BridgeError('bad_notebook', `There is no kind of notebook ${quote(kind)}.`);
    return held.open(opening);
  };
  const broker = await withFileLock(
    join(dir, 'broker.lock'),
    (lock) => Broker.open({ dir, version: ownVersion(), idleMs, open, isAlone: () => lock.isHeld(), logger }),
    { owner: { name: ownProcessName(), hasEnded: hasProcessEnded } },
  );
  if (broker === undefined) return undefined;
  for (const held of kinds.values()) {
    void held.restore?.();
    void broker.ended.then(() => held.close?.());
  }
  return broker;
}
