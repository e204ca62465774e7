import { existsSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { messageOf } from '@notebridge/kit/message-of';
import type { LabAddress } from '@notebridge/notebook/lab';
import { listedBy } from '../../broker/ask-host.js';
import { type HostPlace, readHostPlaces } from '../../broker/host-place.js';
import { BridgeError } from '../../core/errors.js';
import { colabProfile } from '../../notebooks/profiles/colab.js';
import { findColabUrl } from '../../notebooks/profiles/colab-url.js';
import type { NotebookDirectory, NotebookEntry, NotebookLink, NotebookReference } from '../../notebooks/selection/notebook-directory.js';
import type { Environment } from '../../processes/environment.js';
import { ownVersion } from '../../state/own-files.js';
import { quote } from '../../util/quote.js';
import { realFileOf } from './notebook-file.js';
import { assertNotebookName } from './notebook-name.js';

export interface UserNotebooksOptions {
  /** The user's state folder. */
  dir: string;
  /** Where Jupyter's files are. */
  env: Environment;
  /** The folder whose notebooks agents may open by path; undefined: none. */
  folder: string | undefined;
  /** `place`: the process that has it open, where it is known. */
  linkTo: (reference: NotebookReference, place: HostPlace | undefined) => NotebookLink;
}

/** The notebooks that processes of this user have open, and those that an agent may have opened. */
export class UserNotebooks implements NotebookDirectory {
  readonly #options: UserNotebooksOptions;
  /** By id, as it was listed last. */
  #places = new Map<string, HostPlace>();
  #listing: Promise<NotebookEntry[]> | undefined;

  constructor(options: UserNotebooksOptions) {
    this.#options = options;
  }

  /** Calls that ask at once are answered together: each answer costs a connection to each process. */
  list(): Promise<NotebookEntry[]> {
    this.#listing ??= this.#list().finally(() => {
      this.#listing = undefined;
    });
    return this.#listing;
  }

  async #list(): Promise<NotebookEntry[]> {
    const places = readHostPlaces(this.#options.dir);
    const found = await Promise.all(
      places.map(async (place) => {
        const listed = await listedBy(place, ownVersion()).catch(() => []);
        return listed.map((entry) => ({ entry, place }));
      }),
    );
    const all = found.flat();
    this.#places = new Map(all.map(({ entry, place }) => [entry.id, place]));
    return all.map(({ entry }) => entry);
  }

  async find({ text, create }: { text: string; create: boolean }, entries: readonly NotebookEntry[]): Promise<NotebookReference> {
    const named = entries.find(({ id, location }) => id === text || (location !== null && location === text));
    if (named !== undefined) return { kind: 'open', id: named.id };
    if (text === 'local') return { kind: 'built-in' };
    if (/^nb(\d+|-[0-9a-f]+)$/.test(text)) throw notOpen(text, entries);
    const reference =
      URL.canParse(text) && !/^[a-z]:[\\/]/i.test(text) ? await toRemote(text, this.#options.env) : this.#toFile(text, create);
    const location = locationOf(reference);
    const open = entries.find((entry) => entry.location === location);
    return open === undefined ? reference : { kind: 'open', id: open.id };
  }

  linkTo(reference: NotebookReference): NotebookLink {
    return this.#options.linkTo(reference, reference.kind === 'open' ? this.#places.get(reference.id) : undefined);
  }

  /** Links are followed first: one that leads out of the folder is outside of it. */
  #toFile(text: string, create: boolean): NotebookReference {
    assertNotebookName(text);
    const folder = this.#options.folder === undefined ? undefined : realFileOf(this.#options.folder);
    if (folder === undefined)
      throw new BridgeError('bad_notebook', `${quote(text)} cannot be opened by an agent: this one was started in no folder of its own.`);
    const file = realFileOf(resolve(folder, text));
    if (!isBelow(file, folder))
      throw new BridgeError(
        'bad_notebook',
        `${quote(text)} is outside of this agent's folder ${quote(folder)}. A person can open it: notebridge notebook ${text}. Then it is in list_notebooks.`,
      );
    if (!existsSync(dirname(file))) throw new BridgeError('bad_notebook', `There is no folder ${quote(dirname(file))}.`);
    if (!create && !existsSync(file)) throw new BridgeError('bad_notebook', `There is no ${quote(file)}. "create": true makes it, empty.`);
    return { kind: 'built-in', file };
  }
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

async function toRemote(text: string, env: Environment): Promise<NotebookReference> {
  const url = findColabUrl(text);
  if (url !== undefined) return { kind: 'page', profile: colabProfile.name, url };
  if (/^https?:$/.test(new URL(text).protocol) && isLoopback(new URL(text).hostname)) return toJupyter(text, env);
  throw new BridgeError(
    'bad_origin',
    `${quote(withoutSecrets(text))} is not opened: links of Colab, Drive, GitHub and Gists to a notebook are, and addresses of a Jupyter server of this user. A person can name another server: --notebook jupyter=ADDRESS.`,
  );
}

/** Only a server whose own file the user has: another one on this machine may be anybody's, and would be sent a token. */
async function toJupyter(text: string, env: Environment): Promise<NotebookReference> {
  const { findServerOfUser, parseLabAddress } = await import('@notebridge/notebook/lab');
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

function locationOf(reference: NotebookReference): string | undefined {
  if (reference.kind === 'built-in') return reference.file;
  return reference.kind === 'page' ? reference.url : undefined;
}

function notOpen(id: string, entries: readonly NotebookEntry[]): BridgeError {
  const there = entries.map((entry) => `${entry.id} (${entry.location ?? entry.title})`).join(', ');
  return new BridgeError('bad_notebook', `No notebook ${quote(id)} is open: it was closed. There is ${there || 'none'}.`);
}
