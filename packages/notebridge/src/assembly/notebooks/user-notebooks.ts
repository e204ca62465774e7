import { existsSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { messageOf } from '@notebridge/kit/message-of';
import type { LabAddress } from '@notebridge/notebook/lab';
import { listedBy } from '../../broker/ask-host.js';
import { type HostPlace, readHostPlaces } from '../../broker/host-place.js';
import { BridgeError, codeOf } from '../../core/errors.js';
import { findPage } from '../../notebooks/profiles/page-profiles.js';
import type {
  NotebookDirectory,
  NotebookEntry,
  NotebookLink,
  NotebookList,
  NotebookReference,
} from '../../notebooks/selection/notebook-directory.js';
import type { Environment } from '../../processes/environment.js';
import { ownVersion } from '../../state/own-files.js';
import { quote } from '../../util/quote.js';
import { loadLab } from '../load-notebook.js';
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
  #listing: Promise<NotebookList> | undefined;

  constructor(options: UserNotebooksOptions) {
    this.#options = options;
  }

  /** Calls that ask at once are answered together: each answer costs a connection to each process. */
  list(): Promise<NotebookList> {
    this.#listing ??= this.#list().finally(() => {
      this.#listing = undefined;
    });
    return this.#listing;
  }

  async #list(): Promise<NotebookList> {
    const places = readHostPlaces(this.#options.dir);
    const silent: string[] = [];
    const found = await Promise.all(
      places.map(async (place) => {
        try {
          const listed = await listedBy(place, ownVersion());
          return listed.map((entry) => ({ entry, place }));
        } catch (error) {
          // What is not there any more has no notebooks.
          if (codeOf(error) === 'host_silent' || codeOf(error) === 'other_version') silent.push(messageOf(error));
          return [];
        }
      }),
    );
    const all = found.flat();
    this.#places = new Map(all.map(({ entry, place }) => [entry.id, place]));
    return { entries: all.map(({ entry }) => entry), silent };
  }

  async find({ text, create }: { text: string; create: boolean }, { entries, silent }: NotebookList): Promise<NotebookReference> {
    const named = entries.find(({ id, location }) => id === text || (location !== null && location === text));
    if (named !== undefined) return { kind: 'open', id: named.id };
    if (text === 'local') return { kind: 'built-in' };
    if (/^nb(\d+|-[0-9a-f]+)$/.test(text)) throw notOpen(text, { entries, silent });
    const reference =
      findPage(text) !== undefined || (URL.canParse(text) && !/^[a-z]:[\\/]/i.test(text))
        ? await toRemote(text, { create, env: this.#options.env })
        : this.#toFile(text, create);
    const locations = await this.#locationsOf(reference, entries);
    const open = entries.find(({ location }) => location !== null && locations.includes(location));
    return open === undefined ? reference : { kind: 'open', id: open.id };
  }

  linkTo(reference: NotebookReference): NotebookLink {
    return this.#options.linkTo(reference, reference.kind === 'open' ? this.#places.get(reference.id) : undefined);
  }

  /** A file may be open in a Jupyter server, too: two kernels that write one file would overwrite each other. */
  async #locationsOf(reference: NotebookReference, entries: readonly NotebookEntry[]): Promise<string[]> {
    if (reference.kind === 'page') return [reference.url];
    if (reference.kind !== 'built-in' || reference.file === undefined) return [];
    if (!entries.some(({ kind }) => kind === 'jupyter')) return [reference.file];
    const { findLabAddresses } = await loadLab();
    return [reference.file, ...(await findLabAddresses(reference.file, this.#options.env))];
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

async function toRemote(text: string, how: { create: boolean; env: Environment }): Promise<NotebookReference> {
  const page = findPage(text);
  if (page !== undefined) return { kind: 'page', profile: page.profile.name, url: page.url };
  if (/^https?:$/.test(new URL(text).protocol) && isLoopback(new URL(text).hostname)) return toJupyter(text, how);
  throw new BridgeError(
    'bad_origin',
    `${quote(withoutSecrets(text))} is not opened: links of Colab, Drive, GitHub and Gists to a notebook are, and addresses of a Jupyter server of this user. A person can name another server: --notebook jupyter=ADDRESS.`,
  );
}

/** Only a server whose own file the user has: another one on this machine may be anybody's, and would be sent a token. */
async function toJupyter(text: string, { create, env }: { create: boolean; env: Environment }): Promise<NotebookReference> {
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

function notOpen(id: string, { entries, silent }: NotebookList): BridgeError {
  const [why] = silent;
  if (why !== undefined) return new BridgeError('host_silent', why);
  const there = entries.map((entry) => `${entry.id} (${entry.location ?? entry.title})`).join(', ');
  return new BridgeError('bad_notebook', `No notebook ${quote(id)} is open: it was closed. There is ${there || 'none'}.`);
}
