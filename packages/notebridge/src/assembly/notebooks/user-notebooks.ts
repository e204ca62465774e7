import { dirname } from 'node:path';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { ownVersion } from '@notebridge/system/files/own-files';
import { listedBy } from '../../broker/ask-host.js';
import { type HostPlace, readHostPlaces } from '../../broker/host-place.js';
import type { NotebookDirectory, NotebookLink, NotebookList, NotebookReference } from '../../notebooks/selection/notebook-directory.js';
import { createJoined } from './create-joined.js';
import type { NotebookSetup } from './open-notebook.js';

export interface UserNotebooksOptions {
  /** The file of the agent's own notebook, with links resolved. */
  file?: string | undefined;
  /** Others are opened as the first. Default false. */
  readOnly?: boolean | undefined;
}

/** The notebooks that processes of this user have open, and those that an agent may have opened. */
export class UserNotebooks implements NotebookDirectory {
  readonly #setup: NotebookSetup;
  readonly #readOnly: boolean | undefined;
  readonly #folder: string | undefined;
  /** By id, as it was listed last. */
  #places = new Map<string, HostPlace>();
  #listing: Promise<NotebookList> | undefined;

  constructor(setup: NotebookSetup, { file, readOnly }: UserNotebooksOptions = {}) {
    this.#setup = setup;
    this.#readOnly = readOnly;
    this.#folder = folderOfAgent(file);
  }

  /** Calls that ask at once are answered together: each answer costs a connection to each process. */
  list(): Promise<NotebookList> {
    this.#listing ??= this.#list().finally(() => {
      this.#listing = undefined;
    });
    return this.#listing;
  }

  async #list(): Promise<NotebookList> {
    const places = readHostPlaces(this.#setup.stateDir);
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
    if (/^nb(\d+|-[0-9a-f]+)$/.test(text)) throw notOpen(text, { entries, silent });
    const { env, findNotebook } = this.#setup;
    return findNotebook({ text, create, folder: this.#folder, env }, entries);
  }

  linkTo(reference: NotebookReference): NotebookLink {
    const readOnly = this.#readOnly;
    if (reference.kind !== 'open') return createJoined(this.#setup, { open: { address: reference }, readOnly });
    return createJoined(this.#setup, { open: { id: reference.id }, place: this.#places.get(reference.id), readOnly });
  }
}

function notOpen(id: string, { entries, silent }: NotebookList): BridgeError {
  const [why] = silent;
  if (why !== undefined) return new BridgeError('host_silent', why);
  const there = entries.map((entry) => `${entry.id} (${entry.location ?? entry.title})`).join(', ');
  return new BridgeError('bad_notebook', `No notebook ${quote(id)} is open: it was closed. There is ${there || 'none'}.`);
}

/** Where an agent was started, unless that is the root of all files, as some hosts have it: then the folder of its notebook. */
function folderOfAgent(file: string | undefined): string | undefined {
  const cwd = process.cwd();
  if (dirname(cwd) !== cwd) return cwd;
  return file === undefined || dirname(file) === cwd ? undefined : dirname(file);
}
