import type { JsonObject } from '@notebridge/kit/json';
import { findHolder } from '../../broker/ask-host.js';
import type { JoinRequest } from '../../broker/host-link.js';
import { JoinedNotebook } from '../../broker/joined-notebook.js';
import { LentTools } from '../../broker/lent-tools.js';
import { reachHost } from '../../broker/reach-host.js';
import { userConfigFile } from '../../config/load-config.js';
import { codeOf } from '../../core/errors.js';
import { nameOfAgent } from '../../notebooks/call-notebook-tool.js';
import { AgentWatchMiddleware } from '../../notebooks/local/agent-watch.js';
import { localInstructions, showWindow, windowTool } from '../../notebooks/local/local-notebook.js';
import { openBrowser } from '../../processes/browser.js';
import { ownVersion } from '../../state/own-files.js';
import { realFileOf } from './notebook-file.js';
import { assertNotebookName } from './notebook-name.js';
import { browserSwitchedOff, type NotebookSetup, type OpenedNotebook } from './open-notebook.js';
import { startBroker } from './start-broker.js';

/** The built-in notebook as an agent's process has it: it runs in another process. */
export interface JoinedBuiltIn extends OpenedNotebook {
  joined: JoinedNotebook;
}

/** What cannot be helped by trying again: the process that was asked for it ends with it. */
const finalCodes = new Set<unknown>(['bad_notebook', 'sandbox_unavailable', 'bad_usage', 'port_in_use']);

/**
 * Joins whoever has the notebook open, or has it opened in the user's broker: it goes on when this process ends. Does not wait for that;
 * calls do. `ended` rejects if the notebook cannot be opened at all.
 */
export async function openJoined(
  setup: NotebookSetup,
  { file, readOnly = false }: { file: string | undefined; readOnly?: boolean | undefined },
): Promise<JoinedBuiltIn> {
  if (file !== undefined) assertNotebookName(file);
  const { stateDir: dir, logger, pages, config } = setup;
  const path = file === undefined ? undefined : realFileOf(file);
  const tools = await setup.openTools?.();
  const open: JoinRequest = {
    file: path,
    readOnly,
    sandbox: pages.sandbox ?? 'auto',
    ...(tools === undefined ? {} : { toolsKey: realFileOf(config.file ?? userConfigFile(setup.env)) }),
    how: toHow(setup),
  };
  const joined = new JoinedNotebook({
    connect: (createHandler) =>
      reachHost({ dir, version: ownVersion(), file: path, startBroker: () => startBroker(setup), logger }, createHandler),
    open,
    instructions: localInstructions(tools !== undefined),
    windowTool: windowTool.name,
    showWindow: (window) => showWindow(window, pages.openBrowser === false ? async () => browserSwitchedOff : openBrowser),
    nameOfAgent,
    tools: tools && new LentTools(tools),
    logger,
  });
  const ended = new Promise<void>((_, reject) => {
    joined.join().catch((error: unknown) => (finalCodes.has(codeOf(error)) ? reject(error) : logger.warn(String(error))));
  });
  ended.catch(() => {});
  const close = async (): Promise<void> => {
    await joined.close();
    await tools?.close();
  };
  return { joined, provider: joined, middlewares: [new AgentWatchMiddleware((agents) => joined.showAgents(agents))], ended, close };
}

/** Whether another process of the user has the file open, which can be joined. */
export async function isHeldElsewhere({ stateDir }: Pick<NotebookSetup, 'stateDir'>, file: string): Promise<boolean> {
  return (await findHolder(stateDir, ownVersion(), realFileOf(file))) !== undefined;
}

/** What the process that opens the notebook needs of us. */
export interface HowToOpen {
  pages: NotebookSetup['pages'];
  audit: NotebookSetup['config']['audit'];
  limits: NotebookSetup['config']['limits'];
  /** Variables that say which Python the person has switched on. */
  env: Record<string, string>;
}

const pythonNames = [
  'CONDA_DEFAULT_ENV',
  'CONDA_PREFIX',
  'JUPYTER_CONFIG_DIR',
  'JUPYTER_DATA_DIR',
  'JUPYTER_PATH',
  'PATH',
  'PYENV_VERSION',
  'VIRTUAL_ENV',
];

function toHow({ pages, config: { audit, limits }, env }: NotebookSetup): JsonObject {
  const ofPython = pythonNames.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  const how: HowToOpen = { pages, audit, limits, env: Object.fromEntries(ofPython) };
  return JSON.parse(JSON.stringify(how)) as JsonObject;
}
