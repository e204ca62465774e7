import type { LabWorkspace } from '@notebridge/notebook/lab';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type {
  NotebookContents,
  NotebookDirectory,
  NotebookLink,
  NotebookList,
  NotebookReference,
} from '../../../notebooks/selection/notebook-directory.js';

export interface JupyterDirectoryOptions {
  workspace: LabWorkspace;
  /** A link to a notebook of its servers. */
  linkTo: (found: { baseUrl: string; path: string }) => NotebookLink;
}

/** For an agent of a Jupyter server: paths are those of the server, and what the server has is listed besides. */
export class JupyterDirectory implements NotebookDirectory {
  readonly contents: NotebookContents;
  readonly #all: NotebookDirectory;
  readonly #options: JupyterDirectoryOptions;
  /** Addresses of servers that have been found. */
  readonly #servers = new Set<string>();

  /** `all`: the user's notebooks. */
  constructor(all: NotebookDirectory, options: JupyterDirectoryOptions) {
    const { workspace } = options;
    this.#all = all;
    this.#options = options;
    const list = async (args: JsonObject): Promise<JsonObject> => {
      const jupyter = await workspace.contents(args).catch((error: unknown) => ({ error: messageOf(error) }));
      return { jupyter: jupyter as JsonObject };
    };
    this.contents = { arguments: workspace.contentsArguments, list };
  }

  list(): Promise<NotebookList> {
    return this.#all.list();
  }

  /** What neither is open nor on the server may be a file of the agent's folder. */
  async find(named: { text: string; create: boolean }, list: NotebookList): Promise<NotebookReference> {
    const { text, create } = named;
    if (list.entries.some(({ id, location }) => id === text || location === text)) return this.#all.find(named, list);
    if (!isOfServer(text)) return this.#besideServer(await this.#all.find(named, list), create);
    try {
      return this.#ofServer(await this.#options.workspace.find(text, { create }));
    } catch (error) {
      const elsewhere = create ? undefined : await this.#all.find(named, list).catch(() => undefined);
      // Of the server itself: a notebook that it does not have may be elsewhere.
      const isMissing = isJsonObject(error) && error.code === 'no_notebook';
      if (elsewhere !== undefined && (isMissing || elsewhere.kind !== 'built-in')) return this.#besideServer(elsewhere, create);
      throw new BridgeError('bad_notebook', messageOf(error), { cause: error });
    }
  }

  /**
   * A file is opened in our own notebook where no server has it below its folder. Whoever chose Jupyter means its kernel, so where no server runs
   * or answers, that is said, and nothing is opened in its place.
   */
  async #besideServer(reference: NotebookReference, create: boolean): Promise<NotebookReference> {
    if (reference.kind !== 'built-in' || reference.file === undefined) return reference;
    try {
      const found = await this.#options.workspace.findFile(reference.file, { create });
      return found === undefined ? reference : this.#ofServer(found);
    } catch (error) {
      throw new BridgeError('bad_notebook', messageOf(error), { cause: error });
    }
  }

  #ofServer({ baseUrl: where, path: notebook }: { baseUrl: string; path: string }): NotebookReference {
    this.#servers.add(where);
    return { kind: 'jupyter', where, notebook };
  }

  linkTo(reference: NotebookReference): NotebookLink {
    const { kind } = reference;
    if (kind !== 'jupyter' || reference.notebook === undefined || !this.#servers.has(reference.where)) return this.#all.linkTo(reference);
    return this.#options.linkTo({ baseUrl: reference.where, path: reference.notebook });
  }
}

/** A path of its own, or an address that may be the server's. */
function isOfServer(text: string): boolean {
  return /^https?:/.test(text) || (text.endsWith('.ipynb') && !/^([~/\\]|[a-z]:[\\/])/i.test(text));
}
