import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import { ownVersion } from '@notebridge/system/files/own-files';
import { findHolder } from '../../../broker/ask-host.js';
import type { JoinedNotebook } from '../../../broker/joined-notebook.js';
import type { NotebookAddress } from '../../../broker/notebook-address.js';
import { openSelection } from '../add-selection.js';
import { createJoined } from '../create-joined.js';
import { realFileOf } from '../notebook-file.js';
import { assertNotebookName } from '../notebook-name.js';
import type { NotebookSetup, OpenedNotebook } from '../open-notebook.js';
import { UserNotebooks } from '../user-notebooks.js';

/** The built-in notebook as an agent's process has it: it runs in another process. */
export interface JoinedBuiltIn extends OpenedNotebook {
  joined: JoinedNotebook;
}

/** What cannot be helped by trying again: the process that was asked for it ends with it. */
const finalCodes = new Set<unknown>(['bad_notebook', 'sandbox_unavailable', 'bad_usage', 'port_in_use']);

export interface JoinOptions {
  file: string | undefined;
  readOnly?: boolean | undefined;
  /** Its kernel cannot be used: calls say why, until it can. An agent's host shows what ends us to nobody. Default: `ended` rejects. */
  waitsForKernel?: boolean | undefined;
  /** See `JoinedNotebookOptions`. */
  howAgain?: string | undefined;
}

/**
 * Joins whoever has the notebook open, or has it opened in the user's broker: it goes on when this process ends. Does not wait for that;
 * calls do. `ended` rejects if the notebook cannot be opened at all.
 */
export async function openJoined(
  setup: NotebookSetup,
  { file, readOnly = false, waitsForKernel = false, howAgain }: JoinOptions,
): Promise<JoinedBuiltIn> {
  if (file !== undefined) assertNotebookName(file);
  const { logger } = setup;
  const path = file === undefined ? undefined : realFileOf(file);
  const tools = await setup.openTools?.();
  const address: NotebookAddress = { kind: 'built-in', ...(path === undefined ? {} : { file: path }) };
  const joined = createJoined(setup, { open: { address }, readOnly, tools, howAgain });
  const joining = joined.join();
  const ended = new Promise<void>((_, reject) => {
    joining.catch((error: unknown) => (isFinal(error, waitsForKernel) ? reject(error) : logger.warn(String(error))));
  });
  ended.catch(() => {});
  if (path !== undefined) await untilJoinedIfHeld(setup, path, joining);
  const opened = openSelection(setup, { first: joined, directory: new UserNotebooks(setup, { file: path, readOnly }) });
  const close = async (): Promise<void> => {
    await opened.close();
    await tools?.close();
  };
  return { ...opened, middlewares: [...(tools?.middlewares ?? []), ...opened.middlewares], joined, ended, close };
}

function isFinal(error: unknown, waitsForKernel: boolean): boolean {
  const isOfKernel = error instanceof BridgeError && error.data.kernel !== undefined;
  return finalCodes.has(codeOf(error)) && !(isOfKernel && waitsForKernel);
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
