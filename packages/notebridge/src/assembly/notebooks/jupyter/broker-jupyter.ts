import { join } from 'node:path';
import { basename } from 'node:path/posix';
import type { LabNotebook, LabWorkspace } from '@notebridge/notebook/lab';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { ownUserId } from '@notebridge/system/processes/own-user';
import type { BrokerNotebook, NotebookOpening } from '../../../broker/broker.js';
import { type NotebookDescription, SharedNotebook } from '../../../broker/shared-notebook.js';
import { LayeredProvider } from '../../../middleware/layered-provider.js';
import { howToAllowEdits, OneJupyterNotebook } from '../../../notebooks/jupyter/jupyter-notebook.js';
import { KeptRuns } from '../../../notebooks/jupyter/kept-runs.js';
import { ReadBeforeWriteMiddleware } from '../../../notebooks/reads/read-before-write.js';
import { loadLab } from '../../load-notebook.js';
import type { HowToOpen, JupyterAccess } from '../how-to-open.js';
import type { OpenBrokerOptions } from '../notebook-kind.js';
import { leaseIdleIn, toTerms } from '../page-options.js';

/** One connection to a server, by one token, for all of its notebooks that are in use. */
interface OpenServer {
  workspace: LabWorkspace;
  notebooks: number;
  close(): Promise<void>;
}

const serversOf = new WeakMap<OpenBrokerOptions, Map<string, Promise<OpenServer>>>();

/**
 * One notebook of a Jupyter server. Each is an entry of its own; those of one server share its connection. Its token comes over the proven
 * link, and stands in no file of ours. Rejects with `bad_notebook`, which names why.
 */
export async function openBrokerJupyter({ request, address, id }: NotebookOpening, options: OpenBrokerOptions): Promise<BrokerNotebook> {
  if (address.kind !== 'jupyter' || address.notebook === undefined)
    throw new BridgeError('bad_notebook', 'Name the notebook of the Jupyter server that is meant, by its path.');
  const { pages, jupyter: access = {} } = request.how as unknown as HowToOpen;
  const { server, leave } = await enter(address.where, access, options);
  try {
    const { allowEdits } = pages;
    const notebook = await server.workspace.open(address.notebook, allowEdits === undefined ? {} : { allowEdits });
    notebook.session.readOnly = request.readOnly;
    const provider = new LayeredProvider(new OneJupyterNotebook(notebook), [new ReadBeforeWriteMiddleware()]);
    const shared = new SharedNotebook(
      {
        provider,
        address,
        terms: toTerms(pages, request.readOnly),
        describe: () => describe(notebook),
        state: () => ({
          windows: 0,
          isRunning: notebook.session.running !== undefined || notebook.session.queued.length > 0,
          unsaved: undefined,
        }),
        leaseIdleMs: leaseIdleIn(options.env),
      },
      id,
    );
    const close = async (): Promise<void> => {
      try {
        provider.close();
        await server.workspace.release(notebook);
      } finally {
        await leave();
      }
    };
    return { notebook: shared, close };
  } catch (error) {
    await leave();
    throw new BridgeError('bad_notebook', messageOf(error), { cause: error });
  }
}

function describe({ path, address: location, session }: LabNotebook): NotebookDescription {
  const { kernel, kernelState } = session;
  // Whether it runs there is known when it is connected.
  const state = kernelState === 'not started' ? 'not connected' : kernelState;
  return { title: basename(path), location, kernel: kernel.info.displayName.trim() || null, state };
}

/** The connection that is there, or a new one. The last one to leave closes it. */
async function enter(
  baseUrl: string,
  access: JupyterAccess,
  options: OpenBrokerOptions,
): Promise<{ server: OpenServer; leave: () => Promise<void> }> {
  const servers = serversOf.get(options) ?? new Map<string, Promise<OpenServer>>();
  serversOf.set(options, servers);
  const key = JSON.stringify([baseUrl, access.token ?? '']);
  const opening = servers.get(key) ?? connect(baseUrl, access, options);
  servers.set(key, opening);
  const server = await opening;
  server.notebooks++;
  const leave = async (): Promise<void> => {
    if (--server.notebooks > 0) return;
    if (servers.get(key) === opening) servers.delete(key);
    await server.close();
  };
  return { server, leave };
}

async function connect(
  baseUrl: string,
  { token, env: ofJupyter }: JupyterAccess,
  { env, createLogger, stateDir }: OpenBrokerOptions,
): Promise<OpenServer> {
  const { cellIdsIn, LabWorkspace } = await loadLab();
  const redactor = new Redactor();
  if (token !== undefined) redactor.add(token);
  const logger = createLogger(redactor);
  const kept = new KeptRuns({ dir: join(stateDir, 'jupyter-runs'), uid: ownUserId(), logger });
  const workspace = new LabWorkspace({
    target: { baseUrl, token },
    env: { ...env, ...ofJupyter },
    howToAllow: howToAllowEdits,
    keeperOf: (notebook) => kept.keeperOf(notebook),
    cellIds: cellIdsIn(join(stateDir, 'cell-ids')),
    logger,
    onSecret: (secret) => redactor.add(secret),
  });
  return { workspace, notebooks: 0, close: () => workspace.close().finally(() => logger.close?.()) };
}
