import { BridgeError } from '@notebridge/protocol/core/errors';
import type { BrokerNotebook, NotebookOpening } from '../../../broker/broker.js';
import { fileOf } from '../../../broker/notebook-address.js';
import type { SharedNotebook } from '../../../broker/shared-notebook.js';
import { SuppliedTools } from '../../../broker/supplied-tools.js';
import { defaultConfig } from '../../../config/config.js';
import type { HowToOpen } from '../how-to-open.js';
import type { HeldKindOptions } from '../notebook-kind.js';
import { toTerms } from '../page-options.js';
import { openBuiltIn } from './open-built-in.js';
import { toShared } from './share-built-in.js';

/** A notebook with a guard and an audit of its own, for its windows; the agents' calls are their own processes' to record. */
export async function openBrokerBuiltIn(
  { request: { readOnly, toolsKey, how }, address, id }: NotebookOpening,
  { stateDir, env, createLogger, createBridge }: HeldKindOptions,
): Promise<BrokerNotebook> {
  const file = fileOf(address);
  const { pages, audit, limits, env: ofPython, configFile, runs } = how as unknown as HowToOpen;
  const tools = toolsKey === undefined ? undefined : new SuppliedTools(toolsKey);
  let notebook: SharedNotebook | undefined;
  const bridge = await createBridge({
    config: { ...defaultConfig('/'), audit, limits },
    env: { ...env, ...ofPython },
    stateDir,
    pages,
    createLogger,
    notebook: async (setup) => {
      const opened = await openBuiltIn(
        { ...setup, openTools: tools && (async () => tools) },
        { file, isRealFile: true, readOnly, configFile, runs },
      );
      notebook = toShared(opened, { id, file, terms: toTerms(pages, readOnly), tools, env });
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
