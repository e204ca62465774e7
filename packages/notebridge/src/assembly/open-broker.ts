import { join } from 'node:path';
import { Broker, type BrokerNotebook } from '../broker/broker.js';
import type { JoinRequest } from '../broker/host-link.js';
import type { SharedNotebook } from '../broker/shared-notebook.js';
import { SuppliedTools } from '../broker/supplied-tools.js';
import { defaultConfig } from '../config/config.js';
import { BridgeError } from '../core/errors.js';
import type { ClosableLogger } from '../core/logger.js';
import type { Environment } from '../processes/environment.js';
import { ownUserId } from '../processes/own-user.js';
import { withFileLock } from '../state/file-lock.js';
import { ownVersion } from '../state/own-files.js';
import { ensurePrivateDir } from '../state/private-file.js';
import type { Redacting } from '../util/redactor.js';
import { createNotebridge } from './create-notebridge.js';
import { openBuiltIn } from './notebooks/open-built-in.js';
import type { HowToOpen } from './notebooks/open-joined.js';
import { toShared } from './notebooks/share-built-in.js';

export interface OpenBrokerOptions {
  stateDir: string;
  idleMs: number;
  env: Environment;
  logger: ClosableLogger;
  createLogger: (redactor: Redacting) => ClosableLogger;
}

/** The user's broker, in this process; undefined if there is one already. Rejects with `write_failed`. */
export async function openBroker(options: OpenBrokerOptions): Promise<Broker | undefined> {
  const { stateDir: dir, idleMs, logger } = options;
  ensurePrivateDir(dir, { uid: ownUserId() });
  const open = (request: JoinRequest): Promise<BrokerNotebook> => openNotebook(request, options);
  return withFileLock(join(dir, 'broker.lock'), (lock) =>
    Broker.open({ dir, version: ownVersion(), idleMs, open, isAlone: () => lock.isHeld(), logger }),
  );
}

/** A notebook with a guard and an audit of its own, for its windows; the agents' calls are their own processes' to record. */
async function openNotebook(
  { file, readOnly, toolsKey, how }: JoinRequest,
  { stateDir, env, createLogger }: OpenBrokerOptions,
): Promise<BrokerNotebook> {
  const { pages, audit, limits, env: ofPython } = how as unknown as HowToOpen;
  const tools = toolsKey === undefined ? undefined : new SuppliedTools(toolsKey);
  let notebook: SharedNotebook | undefined;
  const bridge = await createNotebridge({
    config: { ...defaultConfig('/'), audit, limits },
    env: { ...env, ...ofPython },
    stateDir,
    pages,
    createLogger,
    notebook: async (setup) => {
      const opened = await openBuiltIn({ ...setup, openTools: tools && (async () => tools) }, { file, readOnly });
      notebook = toShared(opened, { file, terms: { sandbox: pages.sandbox ?? 'auto', readOnly }, tools });
      return opened;
    },
  });
  try {
    await bridge.start();
  } catch (error) {
    await bridge.close();
    throw error;
  }
  if (notebook === undefined) throw new BridgeError('internal', 'A notebook was opened that is none.');
  return { notebook, close: () => bridge.close() };
}
