import { statSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import type { Environment } from '@notebridge/system/processes/environment';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { loadNotebook } from '../../assembly/load-notebook.js';
import { toNotebookOpener } from '../../assembly/notebooks/to-opener.js';
import { toWholeKernel } from '../command-options.js';
import { chooseHub } from '../hub/own-hub.js';

/** The value of `--notebook` as it is written into a host's file. */
export interface NotebookArgument {
  where: string;
  /** The address held a token, which is not written. */
  hadToken: boolean;
}

const jupyter = 'jupyter=';

/**
 * Agent hosts start us in any folder, often in the root: a file becomes a whole path. An address stays as it is, but for the token of
 * Jupyter in it: hosts' files are read by many, and synchronized. @throws BridgeError `bad_usage` for what is no notebook.
 */
export async function toNotebookArgument(notebook: string): Promise<NotebookArgument> {
  toNotebookOpener(notebook);
  if (notebook.startsWith(jupyter)) return toJupyter(notebook.slice(jupyter.length));
  const isFile = notebook.endsWith('.ipynb') && !URL.canParse(notebook);
  return { where: isFile ? toWholePath(notebook, notebook) : notebook, hadToken: false };
}

async function toJupyter(address: string): Promise<NotebookArgument> {
  if (address === '') return { where: 'jupyter', hadToken: false };
  if (address.endsWith('.ipynb') && !/^https?:/.test(address))
    return { where: `${jupyter}${toWholePath(address, jupyter + address)}`, hadToken: false };
  const { assertJupyterAddress } = await import('../../assembly/notebooks/jupyter/open-jupyter.js');
  await assertJupyterAddress(address);
  const url = new URL(address);
  if (url.username !== '' || url.password !== '')
    throw new BridgeError('bad_usage', '--notebook jupyter=… has a user name or password in it, which would be written. Leave it out.');
  const hadToken = url.searchParams.has('token');
  url.searchParams.delete('token');
  return { where: jupyter + (hadToken ? url.href : address), hadToken };
}

function toWholePath(file: string, asGiven: string): string {
  const path = resolve(file);
  if (statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new BridgeError(
      'bad_usage',
      `--notebook ${quote(asGiven)} cannot be used: there is no folder "${dirname(path)}". Make it, or correct the path.`,
    );
  return path;
}

/** What cannot be used is found now, and not by an agent host that shows it to nobody. `notebook`: the one whose code it runs, as it is written. */
export async function toKernelArgument(
  kernel: string,
  { notebook = '', env }: { notebook: string | undefined; env: Environment },
): Promise<string> {
  const whole = toWholeKernel(kernel);
  if (whole === 'auto') return whole;
  const { toUsableKernel } = await loadNotebook(stateDir());
  return toUsableKernel(whole, { folder: isAbsolute(notebook) ? dirname(notebook) : process.cwd(), env }).catch((error: unknown) => {
    throw new BridgeError('bad_usage', `Nothing was written. ${messageOf(error)}`, { cause: error });
  });
}

/** The address of a hub's door for agents; `true`: of the hub that this user runs, or names. @throws BridgeError `bad_usage`. */
export function toHubAddress(url: string | true, dir: string): string {
  if (url !== true) return toDoor(url);
  const hub = chooseHub(dir);
  if (hub !== undefined) return toDoor(hub.url);
  throw new BridgeError(
    'bad_usage',
    'No hub of yours serves, so it is not known where. Start one ("notebridge serve"), or give its address: --url http://127.0.0.1:8765/mcp',
  );
}

function toDoor(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw bad('it is no address. Give that of the hub: http://127.0.0.1:8765/mcp');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw bad('there is more in it than an address. A token is not for the host’s file: leave it out');
  if (url.pathname === '/') url.pathname = '/mcp';
  return url.href;
}

function bad(found: string): BridgeError {
  return new BridgeError('bad_usage', `--url cannot be used: ${found}.`);
}
