import type { LabAddress } from '@notebridge/notebook/lab';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import type { NamedNotebook, NotebookReference } from '../../../notebooks/selection/notebook-directory.js';
import { loadLab } from '../../load-notebook.js';
import type { NotebookKind } from '../notebook-kind.js';
import type { NotebookSetup, OpenedNotebook } from '../open-notebook.js';
import { withOutputs } from '../with-outputs.js';

/** Notebooks of a Jupyter server. */
export const jupyterKind: NotebookKind = {
  name: 'jupyter',
  arguments: ['"jupyter" or "jupyter=ADDRESS"'],
  opener: (argument) =>
    argument === 'jupyter' || argument.startsWith('jupyter=')
      ? withOutputs((setup) => openHeld(setup, argument.slice('jupyter='.length)))
      : undefined,
  find: async (named) => (isUrl(named.text) ? ofServer(named) : undefined),
  held: (options) => ({ open: async (opening) => (await import('./broker-jupyter.js')).openBrokerJupyter(opening, options) }),
};

/** Kept by the broker, for all agents that name them; else this process keeps what is used. */
async function openHeld(setup: NotebookSetup, where: string): Promise<OpenedNotebook> {
  if (setup.pages.hold === 'join') return (await import('./open-joined-jupyter.js')).openJoinedJupyter(setup, where);
  return (await import('./open-jupyter.js')).openJupyter(setup, where);
}

/** A path of Windows begins like a URL. */
function isUrl(text: string): boolean {
  return URL.canParse(text) && !/^[a-z]:[\\/]/i.test(text);
}

/** Only a server whose own file the user has: another one on this machine may be anybody's, and would be sent a token. */
async function ofServer({ text, create, env }: NamedNotebook): Promise<NotebookReference> {
  const { protocol, hostname } = new URL(text);
  if (!/^https?:$/.test(protocol) || !isLoopback(hostname))
    throw new BridgeError(
      'bad_origin',
      `${quote(withoutSecrets(text))} is not opened: links of Colab, Drive, GitHub and Gists to a notebook are, and addresses of a Jupyter server of this user. A person can name another server: --notebook jupyter=ADDRESS.`,
    );
  const { createOnServer, findServerOfUser, parseLabAddress } = await loadLab();
  let address: LabAddress;
  try {
    address = parseLabAddress(text);
  } catch (error) {
    throw new BridgeError('bad_notebook', messageOf(error), { cause: error });
  }
  const where = await findServerOfUser(address.baseUrl, env);
  if (where === undefined)
    throw new BridgeError('bad_origin', `No Jupyter server of this user runs at ${quote(address.baseUrl)}, so nothing is sent there.`);
  if (address.path === undefined) throw new BridgeError('bad_notebook', `Name a notebook of that server: ${where}lab/tree/PATH.ipynb.`);
  if (create) {
    await createOnServer({ baseUrl: where, path: address.path }, env).catch((error: unknown) => {
      throw new BridgeError('bad_notebook', messageOf(error), { cause: error });
    });
  }
  return { kind: 'jupyter', where, notebook: address.path };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function withoutSecrets(text: string): string {
  const { origin, pathname, protocol } = new URL(text);
  // The path of a "blob:" address is a whole one, with its password.
  return /^https?:$/.test(protocol) ? `${origin}${pathname}` : `${protocol}…`;
}
