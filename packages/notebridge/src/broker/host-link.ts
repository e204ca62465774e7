import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { toPlainValue } from '@notebridge/protocol/core/wire';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Peer } from '@notebridge/protocol/rpc/peer';
import type { LinkHandler } from './join-link.js';
import type { NotebookAddress } from './notebook-address.js';
import type { NotebookTerms } from './notebook-terms.js';
import type { SharedNotebook } from './shared-notebook.js';

/** What a process asks for that joins a notebook. */
export interface JoinRequest extends NotebookTerms {
  /** Left out: only the notebook of that id, if it is still open. */
  address?: NotebookAddress | undefined;
  /** One that is open; where it is not any more, the address is opened. Left out: the address decides. */
  id?: string | undefined;
  /** Which config the servers are of that this process lends to the notebook's code. Left out: it lends none. */
  toolsKey?: string | undefined;
  /** How the notebook is opened if it is not open yet: windows, sandbox, limits. */
  how: JsonObject;
}

/** The notebooks of one process. */
export interface HeldNotebooks {
  /** Opens what the address names, or finds it open. Rejects as opening a notebook does, and with `bad_notebook` without an address. */
  open(request: JoinRequest): Promise<{ notebook: SharedNotebook; isNew: boolean }>;
  /** A process has gone, and has left a notebook if it had one. */
  left(notebook: SharedNotebook | undefined): void;
  all(): readonly SharedNotebook[];
  /** Saves and ends one notebook; without one all, and the process. */
  stop(notebook: SharedNotebook | undefined): Promise<void>;
}

/** The side of a link that holds notebooks: one joined process, which asks for at most one of them. */
export class HostLink implements LinkHandler {
  readonly #peer: Peer;
  readonly #held: HeldNotebooks;
  #notebook: SharedNotebook | undefined;
  #isClosed = false;

  constructor(peer: Peer, held: HeldNotebooks) {
    this.#peer = peer;
    this.#held = held;
  }

  async request(method: string, params: JsonObject, call: Cancellation): Promise<JsonObject> {
    switch (method) {
      case 'notebook/open':
        return this.#open(toPlainValue(params) as unknown as JoinRequest);
      case 'host/status':
        return { notebooks: this.#held.all().map((notebook) => notebook.status()) };
      case 'host/list':
        return { notebooks: this.#held.all().map((notebook) => notebook.listed()) };
      case 'host/stop':
        return this.#stop(params);
      case 'host/release':
        return this.#release(params);
      default:
        if (this.#notebook === undefined) throw new BridgeError('not_started', 'Open a notebook first.');
        return this.#notebook.request(this.#peer, method, params, call);
    }
  }

  notify(method: string, params: JsonObject): void {
    this.#notebook?.notify(this.#peer, method, toPlainValue(params) as JsonObject);
  }

  closed(): void {
    this.#isClosed = true;
    const notebook = this.#notebook;
    this.#notebook = undefined;
    notebook?.leave(this.#peer);
    this.#held.left(notebook);
  }

  /** The notebook of an id, or all and the process. Ends nothing while something would be lost by it, unless it is forced. */
  async #stop({ id, isForced }: JsonObject): Promise<JsonObject> {
    const wanted = id === undefined ? undefined : this.#notebookOf(id);
    const meant = wanted === undefined ? this.#held.all() : [wanted];
    const losses = meant.flatMap((notebook) => notebook.loss ?? []);
    if (losses.length > 0 && isForced !== true) return { ended: [], losses };
    const ended = meant.map((notebook) => notebook.ending());
    await this.#held.stop(wanted);
    return { ended, losses: [] };
  }

  /** Answers who held it; null for nobody. */
  #release({ id }: JsonObject): JsonObject {
    return { holder: this.#notebookOf(id).lease.release() ?? null };
  }

  #notebookOf(id: unknown): SharedNotebook {
    const notebook = this.#held.all().find((held) => held.id === id);
    if (notebook === undefined) throw new BridgeError('bad_notebook', 'That notebook is not open any more.');
    return notebook;
  }

  async #open(request: JoinRequest): Promise<JsonObject> {
    if (this.#notebook !== undefined) throw new BridgeError('bad_params', 'A process joins one notebook.');
    const known = request.id === undefined ? undefined : this.#held.all().find(({ id }) => id === request.id);
    const { notebook, isNew } = known === undefined ? await this.#held.open(request) : { notebook: known, isNew: false };
    notebook.assertTerms(request);
    if (this.#isClosed) {
      // It went away meanwhile: nobody else may need the notebook.
      this.#held.left(notebook);
      throw new BridgeError('closed', 'The link was closed.');
    }
    this.#notebook = notebook;
    notebook.join(this.#peer, request.toolsKey);
    const { provider, address } = notebook.target;
    const { instructions } = provider;
    const { id, life } = notebook;
    const note = isNew ? undefined : notebook.noteFor(request);
    const isolation = notebook.target.kernel?.isolation();
    const optional = Object.entries({ instructions, note, isolation }).filter(([, text]) => text !== undefined);
    return { id, life, address: { ...address }, ...Object.fromEntries(optional) };
  }
}
