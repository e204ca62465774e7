import type { JsonObject } from '@notebridge/kit/json';
import { messageOf } from '@notebridge/kit/message-of';
import type { LabWorkspace } from '@notebridge/notebook/lab';
import { BridgeError } from '../../core/errors.js';
import type {
  NotebookContents,
  NotebookDirectory,
  NotebookLink,
  NotebookList,
  NotebookReference,
} from '../../notebooks/selection/notebook-directory.js';

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
    const isOpen = list.entries.some(({ id, location }) => id === text || location === text);
    if (isOpen || !isOfServer(text)) return this.#all.find(named, list);
    try {
      const { baseUrl: where, path: notebook } = await this.#options.workspace.find(text, { create });
      this.#servers.add(where);
      return { kind: 'jupyter', where, notebook };
    } catch (error) {
      const elsewhere = create ? undefined : await this.#all.find(named, list).catch(() => undefined);
      if (elsewhere !== undefined) return elsewhere;
      throw new BridgeError('bad_notebook', messageOf(error), { cause: error });
    }
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
