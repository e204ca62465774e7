import type { LabTarget } from '@notebridge/notebook/lab';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { LayeredProvider } from '../../../middleware/layered-provider.js';
import { JupyterNotebook } from '../../../notebooks/jupyter/jupyter-notebook.js';
import { ReadBeforeWriteMiddleware } from '../../../notebooks/reads/read-before-write.js';
import { loadLab } from '../../load-notebook.js';
import type { NotebookSetup, OpenedNotebook } from '../open-notebook.js';
import { watchJupyter } from './watch-jupyter.js';

/**
 * The notebooks of a Jupyter server. `where`: the address of a server or of a notebook, the path of a notebook's file below the folder
 * of a server of this user, or empty for the servers that this user runs. Nothing is connected before the first call. Rejects with
 * `bad_usage`.
 */
export async function openJupyter({ env, logger, redactor, pages }: NotebookSetup, where: string): Promise<OpenedNotebook> {
  const { LabWorkspace, parseLabAddress } = await loadLab();
  const workspace = new LabWorkspace({
    target: toLabTarget(where, parseLabAddress),
    env,
    allowEdits: pages.allowEdits ?? false,
    logger,
    onSecret: (secret) => redactor.add(secret),
    onFault: (error) => logger.error('A tool failed.', { error: error instanceof Error ? (error.stack ?? '') : String(error) }),
  });
  const provider = new LayeredProvider(new JupyterNotebook(workspace), [new ReadBeforeWriteMiddleware()]);
  const close = (): Promise<void> => {
    provider.close();
    return workspace.close();
  };
  return { provider, middlewares: [], watched: watchJupyter(workspace), close };
}

/** Rejects with `bad_usage` for what is no address of a Jupyter server. */
export async function assertJupyterAddress(where: string): Promise<void> {
  const { parseLabAddress } = await loadLab();
  toLabTarget(where, parseLabAddress);
}

/** Throws `bad_usage`. */
export function toLabTarget(where: string, parseLabAddress: (text: string) => LabTarget): LabTarget {
  if (where === '') return {};
  if (where.endsWith('.ipynb') && !/^https?:/.test(where)) return { file: where };
  try {
    return parseLabAddress(where);
  } catch (error) {
    throw new BridgeError('bad_usage', `--notebook jupyter=…: ${messageOf(error)}`, { cause: error });
  }
}
