import type { JsonObject } from '@notebridge/kit/json';
import type { NotebooksElsewhere } from '../../broker/ask-host.js';
import { BridgeError } from '../../core/errors.js';
import type { WatchedChange, WatchedLease, WatchedNotebook, WatchedNotebooks } from '../../notebooks/watched-notebooks.js';
import { quote } from '../../util/quote.js';
import type { HttpContext } from '../http/http-context.js';
import { readObject } from './read-object.js';

export interface NotebookRoutesOptions {
  /** Undefined: the hub has none, or not yet. */
  notebooks: () => WatchedNotebooks | undefined;
  /** What other processes of the user hold, as `notebridge ps` has it. */
  elsewhere: Pick<NotebooksElsewhere, 'list' | 'release' | 'end'>;
  maxBodyBytes: number;
}

/** What can be done to a notebook, by the last word of the route. Each throws where this notebook does not have it. */
type Action = (notebook: WatchedNotebook, context: HttpContext) => unknown;

/** The notebooks of this hub, for its owner. */
export class NotebookRoutes {
  readonly actions: { readonly [name: string]: Action };
  readonly #options: NotebookRoutesOptions;

  constructor(options: NotebookRoutesOptions) {
    this.#options = options;
    this.actions = {
      release: (notebook) => ({ holder: leaseOf(notebook).release() ?? null }),
      lease: (notebook, context) => this.#setMayHold(notebook, context),
      answer: (notebook, context) => this.#answer(notebook, context),
      disconnect: ({ disconnectPage }) => {
        if (disconnectPage === undefined) throw cannot('is no page');
        return { disconnected: disconnectPage() };
      },
      undo: async ({ undo, lastChange }) => {
        if (undo === undefined) throw cannot('keeps no changes that could be taken back');
        const change = lastChange?.();
        await undo();
        return { undone: describeChange(change) };
      },
      stop: async ({ stopRuns, describe }) => {
        if (stopRuns === undefined) throw cannot('runs its code where this hub cannot stop it: do it in its page');
        await stopRuns();
        return { state: describe().state };
      },
      restart: async ({ restartKernel, describe }) => {
        if (restartKernel === undefined) throw cannot('has its own kernel, which this hub cannot restart: do it in its page');
        await restartKernel();
        return { state: describe().state };
      },
    };
  }

  /** An address that opens a window, once. Rejects as `perform`. */
  newAddress(context: HttpContext): Promise<unknown> {
    return this.perform(({ newAddress }, { request }) => {
      if (newAddress === undefined) throw cannot('has no window of ours: open it by its own address');
      // A page that is reached under another name is another site to the browser.
      return { address: newAddress(`http://${request.headers.host}`) };
    }, context);
  }

  async list(): Promise<JsonObject> {
    return { notebooks: (await this.#all()).map(describeNotebook) };
  }

  /** What is held by other processes: from here it is released and ended, and all else is done in its window. */
  async listElsewhere(): Promise<JsonObject> {
    const hosts = await this.#options.elsewhere.list();
    return { processes: hosts.map(({ startedAt, ...host }) => ({ ...host, started_at: new Date(startedAt).toISOString() })) };
  }

  async releaseElsewhere({ params: [id = ''] }: HttpContext): Promise<JsonObject> {
    return { holder: await this.#options.elsewhere.release(id) };
  }

  /** Rejects with `not_saved` where something would be lost, unless `force` is true. */
  async endElsewhere(context: HttpContext): Promise<JsonObject> {
    const { force = false } = await readObject(context, this.#options.maxBodyBytes, ['force']);
    if (typeof force !== 'boolean') throw new BridgeError('bad_params', '"force" must be true or false.');
    await this.#options.elsewhere.end(context.params[0] ?? '', force);
    return { ended: true };
  }

  /** Rejects with `bad_params` where there is no such notebook, or it does not have what is asked for. */
  async perform(action: Action, context: HttpContext): Promise<unknown> {
    const [id = ''] = context.params;
    const found = (await this.#all()).find((notebook) => notebook.id === id);
    if (found !== undefined) return action(found, context);
    throw new BridgeError('bad_params', `This hub holds no notebook ${quote(id)} (any more). See: GET /api/v1/hub/notebooks`);
  }

  async #all(): Promise<readonly WatchedNotebook[]> {
    return (await this.#options.notebooks()?.list()) ?? [];
  }

  async #setMayHold(notebook: WatchedNotebook, context: HttpContext): Promise<JsonObject> {
    const { agent, may_hold: may } = await readObject(context, this.#options.maxBodyBytes, ['agent', 'may_hold']);
    const lease = leaseOf(notebook);
    if (typeof agent !== 'string' || typeof may !== 'boolean')
      throw new BridgeError('bad_params', 'The body must be {"agent":"ID","may_hold":false}, or true.');
    if (lease.nameOf(agent) === undefined)
      throw new BridgeError(
        'bad_params',
        `No agent ${quote(agent)} works in this notebook (any more). See "lease" of GET /api/v1/hub/notebooks`,
      );
    lease.setMayHold(agent, may);
    return { lease: describeLease(lease) };
  }

  async #answer(notebook: WatchedNotebook, context: HttpContext): Promise<JsonObject> {
    const { question, yes } = await readObject(context, this.#options.maxBodyBytes, ['question', 'yes']);
    const lease = leaseOf(notebook);
    if (typeof question !== 'number' || typeof yes !== 'boolean')
      throw new BridgeError('bad_params', 'The body must be {"question":NUMBER,"yes":true}, or false.');
    if (!lease.answer(question, yes)) throw new BridgeError('bad_params', 'Nobody asks that any more. Nothing was changed.');
    return { lease: describeLease(lease) };
  }
}

function describeNotebook(notebook: WatchedNotebook): JsonObject {
  const { id, lease, newAddress, disconnectPage, stopRuns, restartKernel, lastChange, undo } = notebook;
  const { lastCall, page, ...facts } = notebook.describe();
  const can = { address: newAddress, release: lease, disconnect: disconnectPage, stop: stopRuns, restart: restartKernel, undo };
  return {
    id,
    ...facts,
    page: page === undefined ? null : { ...page, since: toTime(page.since) },
    lease: lease === undefined ? null : describeLease(lease),
    last_change: describeChange(lastChange?.()),
    last_call: lastCall === undefined ? null : { agent: lastCall.agent ?? null, at: toTime(lastCall.at) },
    can: Object.entries(can).flatMap(([name, does]) => (does === undefined ? [] : [name])),
  };
}

function describeChange(change: WatchedChange | undefined): JsonObject | null {
  return change === undefined ? null : { change: change.change, cell_id: change.cellId, agent: change.agent ?? null };
}

function describeLease(lease: WatchedLease): JsonObject {
  const { holder, asking, barred } = lease.state;
  return {
    holder: holder && { ...holder, since: toTime(holder.since) },
    asking: asking.map(({ questionId, id, name, reason }) => ({ question: questionId, id, name, reason: reason ?? null })),
    barred: barred.map((id) => ({ id, name: lease.nameOf(id) ?? null })),
  };
}

function toTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

function leaseOf({ lease }: WatchedNotebook): WatchedLease {
  if (lease !== undefined) return lease;
  throw cannot('has no lease: the agents of this hub are not kept apart in it');
}

function cannot(why: string): BridgeError {
  return new BridgeError('bad_params', `This notebook ${why}.`);
}
