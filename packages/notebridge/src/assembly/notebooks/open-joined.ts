import type { JsonObject } from '@notebridge/kit/json';
import { findHolder } from '../../broker/ask-host.js';
import type { JoinedNotebook } from '../../broker/joined-notebook.js';
import type { NotebookAddress } from '../../broker/notebook-address.js';
import { codeOf } from '../../core/errors.js';
import { AgentWatchMiddleware } from '../../notebooks/local/agent-watch.js';
import { ownVersion } from '../../state/own-files.js';
import { settlesWithin } from '../../util/settles-within.js';
import { createJoined } from './create-joined.js';
import { realFileOf } from './notebook-file.js';
import { assertNotebookName } from './notebook-name.js';
import type { NotebookSetup, OpenedNotebook } from './open-notebook.js';
import { createSelection } from './select-notebooks.js';

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
  const { logger } = setup;
  const path = file === undefined ? undefined : realFileOf(file);
  const tools = await setup.openTools?.();
  const address: NotebookAddress = { kind: 'built-in', ...(path === undefined ? {} : { file: path }) };
  const how = toHow(setup);
  const joined = createJoined(setup, { open: { address }, readOnly, how, tools });
  const joining = joined.join();
  const ended = new Promise<void>((_, reject) => {
    joining.catch((error: unknown) => (finalCodes.has(codeOf(error)) ? reject(error) : logger.warn(String(error))));
  });
  ended.catch(() => {});
  if (path !== undefined) await untilJoinedIfHeld(setup, path, joining);
  const selection = createSelection(setup, { first: joined, file: path, readOnly, how });
  const close = async (): Promise<void> => {
    await Promise.all([selection.close(), joined.close()]);
    await tools?.close();
  };
  const middlewares = [new AgentWatchMiddleware((agents) => joined.showAgents(agents))];
  return { joined, provider: selection, middlewares, ended, close };
}

/**
 * What is open already says at the handshake which kernel runs, so the handshake waits for it a little. One that is opened for us takes
 * seconds, for which no agent waits.
 */
async function untilJoinedIfHeld(setup: NotebookSetup, file: string, joining: Promise<void>): Promise<void> {
  const joinHeld = async (): Promise<void> => {
    if (await isHeldElsewhere(setup, file)) await joining;
  };
  // Why it cannot be joined is said by `ended` and by each call.
  await settlesWithin(joinHeld(), heldTimeoutMs);
}

/** Milliseconds. */
const heldTimeoutMs = 1000;

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
  /** Of the agent's process; see `BuiltInOptions`. */
  configFile?: string | undefined;
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

/** How the notebook is to be opened by the process that holds it. */
export function toHow({ pages, config: { audit, limits, file }, env }: NotebookSetup): JsonObject {
  const ofPython = pythonNames.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  const how: HowToOpen = {
    pages,
    audit,
    limits,
    env: Object.fromEntries(ofPython),
    ...(file === undefined ? {} : { configFile: realFileOf(file) }),
  };
  return JSON.parse(JSON.stringify(how)) as JsonObject;
}
