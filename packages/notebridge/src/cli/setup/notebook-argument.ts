import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { toNotebookOpener } from '../../assembly/notebooks/to-opener.js';
import { BridgeError } from '../../core/errors.js';
import { quote } from '../../util/quote.js';

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
