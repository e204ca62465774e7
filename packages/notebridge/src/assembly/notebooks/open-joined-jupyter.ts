import type { JsonObject } from '@notebridge/kit/json';
import { JoinedNotebook } from '../../broker/joined-notebook.js';
import type { NotebookAddress } from '../../broker/notebook-address.js';
import { reachHost } from '../../broker/reach-host.js';
import { BridgeError } from '../../core/errors.js';
import { nameOfAgent } from '../../notebooks/call-notebook-tool.js';
import { oneJupyterInstructions } from '../../notebooks/jupyter/one-jupyter-notebook.js';
import { AgentWatchMiddleware } from '../../notebooks/local/agent-watch.js';
import type { Environment } from '../../processes/environment.js';
import { ownVersion } from '../../state/own-files.js';
import { toHow } from './open-joined.js';
import { toLabTarget } from './open-jupyter.js';
import type { NotebookSetup, OpenedNotebook } from './open-notebook.js';
import { toTerms } from './page-options.js';
import { createSelection } from './select-notebooks.js';
import { startBroker } from './start-broker.js';

/** How the process that opens the notebook comes to its server. It goes over the proven link alone: a token is in no address and no file. */
export interface JupyterAccess {
  /** That the person has named. Left out: that of the server's own file. */
  token?: string | undefined;
  /** Variables that say where Jupyter's files are. */
  env?: Record<string, string> | undefined;
}

const jupyterNames = ['APPDATA', 'JUPYTER_DATA_DIR', 'JUPYTER_RUNTIME_DIR', 'XDG_DATA_HOME'];

/**
 * What `--notebook jupyter=…` names, as all agents of the user name it: without the token, by the address that the server gives itself.
 * Undefined where it names no one notebook, or no server has it. Rejects with `bad_usage` for what is no address.
 */
export async function toJupyterAddress(
  where: string,
  env: Environment,
): Promise<{ address: NotebookAddress & { kind: 'jupyter' }; access: JupyterAccess } | undefined> {
  const { LabWorkspace, parseLabAddress } = await import('@notebridge/notebook/lab');
  const target = toLabTarget(where, parseLabAddress);
  if (target.path === undefined && target.file === undefined) return undefined;
  const workspace = new LabWorkspace({ target, env });
  try {
    const { baseUrl, path } = await workspace.locate();
    const token = target.token ?? env.JUPYTER_TOKEN;
    const ofJupyter = jupyterNames.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
    const access = { env: Object.fromEntries(ofJupyter), ...(token === undefined ? {} : { token }) };
    return { address: { kind: 'jupyter', where: baseUrl, notebook: path }, access };
  } catch {
    // Whoever calls is told why.
    return undefined;
  } finally {
    await workspace.close();
  }
}

/** A notebook of a Jupyter server that the user's broker keeps open: undefined where none is named. Nothing is connected before the first call. */
export async function openJoinedJupyter(setup: NotebookSetup, where: string): Promise<OpenedNotebook | undefined> {
  const { stateDir: dir, logger, pages, env, redactor } = setup;
  const found = await toJupyterAddress(where, env);
  if (found === undefined) return undefined;
  if (found.access.token !== undefined) redactor.add(found.access.token);
  const how: JsonObject = { ...toHow(setup), jupyter: found.access as unknown as JsonObject };
  const joined = new JoinedNotebook({
    connect: (createHandler) =>
      reachHost({ dir, version: ownVersion(), file: undefined, startBroker: () => startBroker(setup), logger }, createHandler),
    open: { address: found.address, ...toTerms(pages, false), how },
    instructions: oneJupyterInstructions,
    windowTool: undefined,
    showWindow: () => Promise.reject(new BridgeError('unknown_tool', 'A notebook of JupyterLab has no window of ours.')),
    nameOfAgent,
    tools: undefined,
    logger,
  });
  const watch = new AgentWatchMiddleware((agents) => joined.showAgents(agents));
  const selection = createSelection(setup, { first: joined, readOnly: false, how: toHow(setup) });
  const close = async (): Promise<void> => {
    await Promise.all([selection.close(), joined.close()]);
  };
  return { provider: selection, middlewares: [watch], close };
}
