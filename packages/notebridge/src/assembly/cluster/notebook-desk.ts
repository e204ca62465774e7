import { type ClusterParts, type Membership, NotStarted, ofHubItself, type ServedCall } from '@notebridge/cluster/cluster-parts';
import { sendEvents } from '@notebridge/cluster/remote-events';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Middleware } from '@notebridge/protocol/core/middleware';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { type Chain, composeMiddleware } from '../../middleware/compose.js';
import type { NotebookList } from '../../notebooks/selection/notebook-directory.js';
import { NotebookSelection, type NotebookSelectionOptions } from '../../notebooks/selection/notebook-selection.js';
import { connectNotebookTool } from '../../notebooks/selection/selection-tools.js';

/** The resource under which each hub answers for its notebooks. */
export const notebooksOfHub = `${ofHubItself}notebooks`;

/** Lists what a hub has open. */
export const listMethod = 'notebridge/list_notebooks';
/** Connects a session to the notebook with the id `notebook`. */
export const joinMethod = 'notebridge/join_notebook';
/** Ends a session. */
export const leaveMethod = 'notebridge/leave_notebook';
/** Stays open; its progress are what notebooks announce to a session. */
export const notebookEventsMethod = 'notebridge/notebook_events';

/** The notebook that a hub holds, and the way to others of its user. */
export interface NotebooksOfHub extends Pick<NotebookSelectionOptions, 'first' | 'directory' | 'mayChoose'> {
  middlewares: readonly Middleware[];
  /** An agent's session has ended. */
  endSession: (sessionId: string) => void;
}

/** Answers agents of other hubs: each of their links to a notebook here is a session of its own. */
export class NotebookDesk {
  readonly #own: NotebooksOfHub;
  readonly #guests: NotebookSelection;
  readonly #chain: Chain;
  readonly #membership: Membership;
  readonly #closers: (() => void)[];
  /** Sessions by the hub that they came from. */
  readonly #sessions = new Map<string, Set<string>>();
  /** This hub, in the life that they joined. */
  #hubId: string;

  constructor(own: NotebooksOfHub, { calls, membership }: Pick<ClusterParts, 'calls' | 'membership'>) {
    const { first, directory, mayChoose } = own;
    this.#own = own;
    this.#membership = membership;
    this.#hubId = membership.self.id;
    // What an agent chooses by is what its own hub lists.
    this.#guests = new NotebookSelection({ first, directory, mayChoose, isListed: false });
    this.#chain = composeMiddleware(own.middlewares);
    this.#closers = [calls.serve(notebooksOfHub, (call) => this.#answer(call)), membership.subscribe(() => this.#forgetGone())];
  }

  /** The notebooks stay as they are. Closing twice is harmless. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0)) close();
    for (const sessions of this.#sessions.values()) for (const sessionId of sessions) this.#end(sessionId);
    this.#sessions.clear();
    await this.#guests.close();
  }

  async #answer({ from, context }: ServedCall): Promise<JsonObject> {
    const { method, message, caller } = context;
    const { sessionId } = caller;
    switch (method) {
      case listMethod: {
        const { entries, silent }: NotebookList = await this.#own.directory.list();
        return { entries: entries.map((entry) => ({ ...entry })), silent };
      }
      case notebookEventsMethod:
        return sendEvents(context, this.#membership, (send) =>
          this.#guests.subscribe((event) => {
            if (event.sessionId === undefined || event.sessionId === sessionId) send({ method: event.method, params: event.params });
          }),
        );
      case leaveMethod:
        // Of another hub's sessions it ends none.
        if (this.#sessions.get(from)?.has(sessionId)) this.#leave(from, sessionId);
        return {};
      case joinMethod:
        return this.#admit(from, context, String(message.notebook));
      default:
        if (method.startsWith('notebridge/')) throw new BridgeError('unknown_method', `Hubs of this version do not know "${method}".`);
        // Which notebook a session means that has ended here is not guessed: its hub joins anew.
        if (!this.#isKnown(from, sessionId)) throw new NotStarted('not_owner');
        return this.#chain(context, (inner) => this.#guests.request(inner.method, inner.message, inner));
    }
  }

  async #admit(from: string, context: ServedCall['context'], notebook: string): Promise<JsonObject> {
    const { sessionId } = context.caller;
    this.#note(from, sessionId);
    try {
      await this.#join(context, notebook);
    } catch (error) {
      // Nobody calls in it: the next try is another session.
      this.#leave(from, sessionId);
      throw error;
    }
    // Its hub went away meanwhile.
    if (!this.#isKnown(from, sessionId)) this.#leave(from, sessionId);
    return { instructions: this.#own.first.instructions };
  }

  /** As an agent of this hub would, by the same tool. */
  async #join(context: ServedCall['context'], id: string): Promise<void> {
    const { first } = this.#own;
    this.#guests.begin(context.caller.sessionId);
    await first.join();
    if (first.id === id) return;
    const result = await this.#guests.request('tools/call', { name: connectNotebookTool.name, arguments: { notebook: id } }, context);
    const [text] = Array.isArray(result.content) ? result.content : [];
    const said = isJsonObject(text) && typeof text.text === 'string' ? text.text : '';
    if (result.isError === true) throw new BridgeError('bad_notebook', said);
  }

  #isKnown(hub: string, sessionId: string): boolean {
    return this.#sessions.get(hub)?.has(sessionId) === true && this.#guests.knows(sessionId);
  }

  #note(hub: string, sessionId: string): void {
    const sessions = this.#sessions.get(hub);
    if (sessions === undefined) this.#sessions.set(hub, new Set([sessionId]));
    else sessions.add(sessionId);
  }

  #leave(hub: string, sessionId: string): void {
    const sessions = this.#sessions.get(hub);
    sessions?.delete(sessionId);
    if (sessions?.size === 0) this.#sessions.delete(hub);
    this.#end(sessionId);
  }

  #end(sessionId: string): void {
    void this.#guests.endSession(sessionId);
    this.#own.endSession(sessionId);
  }

  /** What hubs that have ended had here; and what all had, once this one lost its lease: for them it has ended, and each link joins anew. */
  #forgetGone(): void {
    const { id } = this.#membership.self;
    const isOther = id !== this.#hubId;
    this.#hubId = id;
    if (this.#sessions.size === 0) return;
    const alive = new Set(isOther ? [] : this.#membership.hubs().map((hub) => hub.id));
    for (const [hub, sessions] of this.#sessions) {
      if (alive.has(hub)) continue;
      this.#sessions.delete(hub);
      for (const sessionId of sessions) this.#end(sessionId);
    }
  }
}
