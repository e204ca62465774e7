import { messageOf } from '@notebridge/kit/message-of';
import { listedBy } from '../../broker/ask-host.js';
import { type HostPlace, readHostPlaces } from '../../broker/host-place.js';
import { BridgeError, codeOf } from '../../core/errors.js';
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

/** What an agent has named. */
export interface NamedNotebook {
  text: string;
  /** Makes it where there is none. */
  create: boolean;
  /** The folder whose notebooks the agent may open by path; undefined: none. */
  folder: string | undefined;
  /** Where Jupyter's files are. */
  env: Environment;
}

/** Finds what is meant, or opens nothing: rejects with `bad_notebook`, `bad_origin`. `open`: what is open already. */
export type FindNotebook = (named: NamedNotebook, open: readonly NotebookEntry[]) => Promise<NotebookReference>;

export interface UserNotebooksOptions {
  /** The user's state folder. */
  dir: string;
  find: FindNotebook;
  env: Environment;
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
    if (/^nb(\d+|-[0-9a-f]+)$/.test(text)) throw notOpen(text, { entries, silent });
    const { env, folder, find } = this.#options;
    return find({ text, create, folder, env }, entries);
  }

  linkTo(reference: NotebookReference): NotebookLink {
    return this.#options.linkTo(reference, reference.kind === 'open' ? this.#places.get(reference.id) : undefined);
  }
}

function notOpen(id: string, { entries, silent }: NotebookList): BridgeError {
  const [why] = silent;
  if (why !== undefined) return new BridgeError('host_silent', why);
  const there = entries.map((entry) => `${entry.id} (${entry.location ?? entry.title})`).join(', ');
  return new BridgeError('bad_notebook', `No notebook ${quote(id)} is open: it was closed. There is ${there || 'none'}.`);
}
