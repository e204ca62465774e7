import { type CallTarget, type ClusterParts, NotStarted } from '@notebridge/cluster/cluster-parts';
import { inSession } from '@notebridge/cluster/in-session';
import { RemoteCaller } from '@notebridge/cluster/remote-caller';
import { followEvents, toHubContext } from '@notebridge/cluster/remote-events';
import type { CallContext, Caller } from '@notebridge/protocol/core/call-context';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { quote } from '@notebridge/protocol/util/quote';
import type { NotebookLink } from '../../notebooks/selection/notebook-directory.js';
import { joinMethod, leaveMethod, notebookEventsMethod, notebooksOfHub } from './notebook-desk.js';
import { isPageId } from './page-records.js';

export interface RemoteNotebookOptions extends Pick<ClusterParts, 'calls' | 'runtime'> {
  /** As agents know it, and as its hub does. */
  id: string;
  idThere: string;
  /** The hub that has it now; or itself, if that is this hub. Rejects if it is nowhere. */
  locate: () => Promise<string | NotebookHere>;
}

/** A notebook that may come from hub to hub, while it is here. */
export interface NotebookHere {
  readonly provider: Pick<Provider, 'instructions' | 'subscribe'>;
  /** Rejects with `NotStarted` if it is not here any more. */
  request: Provider['request'];
  endSession(sessionId: string): void;
}

/** A session of the link, by which the notebook answers it. */
interface LinkSession {
  /** The id of a hub, or here. */
  at: string | NotebookHere;
  id: string;
  /** True: whoever has the notebook may know nothing of it any more. */
  isInDoubt: boolean;
}

/** A notebook that another hub holds, as an agent of this one uses it. Each time it joins, the link is a session of its own there. */
export class RemoteNotebook implements NotebookLink {
  readonly name = 'notebook';
  readonly id: string;
  readonly #options: RemoteNotebookOptions;
  readonly #events = new Listeners<ProviderEvent>();
  readonly #caller: RemoteCaller;
  #session: LinkSession | undefined;
  #joining: Promise<void> | undefined;
  #stopEvents: (() => void) | undefined;
  #instructions: string | undefined;
  /** As they were listed last: they are listed also while their hub is away. */
  #tools: JsonObject | undefined;
  #isDisconnected = false;
  #isClosed = false;
  #agent: Caller | undefined;

  constructor(options: RemoteNotebookOptions) {
    const { runtime, id } = options;
    this.#options = options;
    this.id = id;
    this.#caller = new RemoteCaller({
      calls: { call: (...call) => this.#callThere(...call) },
      runtime,
      find: () => this.#joined(),
      callHere: (method, params, context) => this.#requestHere(method, params, context),
      what: `The notebook ${quote(this.id)}`,
    });
  }

  get instructions(): string | undefined {
    return this.#instructions;
  }

  get isDisconnected(): boolean {
    return this.#isDisconnected;
  }

  async join(): Promise<void> {
    try {
      await this.#joined();
    } catch (error) {
      if (!(error instanceof NotStarted)) throw error;
      const text = `The notebook ${quote(this.id)} is with no hub that answers (${error.reason}). Try again.`;
      throw new BridgeError('cluster_unavailable', text, { cause: error });
    }
  }

  async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    // What hubs say to one another is no agent's to say: it names files of that hub, and ends links.
    if (method.startsWith('notebridge/')) throw new BridgeError('unknown_method', `Nothing here answers ${quote(method)}.`);
    this.#agent = context.caller;
    const isList = method === 'tools/list' && params.cursor === undefined;
    try {
      const result = await this.#caller.call(method, params, context);
      if (isList) this.#tools = result;
      return result;
    } catch (error) {
      if (isList && this.#tools !== undefined && context.cancellation.reason === undefined) return this.#tools;
      if (codeOf(error) === 'disconnected') this.#isDisconnected = true;
      throw error;
    }
  }

  notify(): void {}

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#events.add(listener);
  }

  /** The hub that holds it shows those whose calls come. */
  showAgents(): void {}

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopEvents?.();
    await this.#leave(this.#session);
  }

  /** A hub that was started again has another id, and knows nothing of this link. Undefined: it is here. */
  async #joined(): Promise<CallTarget | undefined> {
    const at = await this.#options.locate();
    if (!this.#isJoinedAt(at)) {
      this.#joining ??= this.#join(at).finally(() => {
        this.#joining = undefined;
      });
      await this.#joining;
      // It came from hub to hub meanwhile, or that hub leaves: whoever calls looks again.
      if (!this.#isJoinedAt(at)) throw new NotStarted('not_owner');
    }
    return typeof at === 'string' ? toTarget(at) : undefined;
  }

  #isJoinedAt(at: string | NotebookHere): boolean {
    return this.#session?.at === at && !this.#session.isInDoubt;
  }

  async #join(at: string | NotebookHere): Promise<void> {
    const before = this.#session;
    const session: LinkSession = { at, id: `link-${this.#options.runtime.bytes(12).toString('hex')}`, isInDoubt: false };
    this.#stopEvents?.();
    if (typeof at === 'string') await this.#joinAt(at, session);
    else {
      this.#instructions = at.provider.instructions;
      this.#stopEvents = at.provider.subscribe((event) => this.#events.emit(event));
    }
    this.#session = session;
    if (this.#isClosed) {
      this.#stopEvents?.();
      return this.#leave(session);
    }
    if (before === undefined) return;
    if (before.at === at) void this.#leave(before);
    this.#events.emit({ method: 'notifications/tools/list_changed' });
  }

  async #joinAt(hub: string, session: LinkSession): Promise<void> {
    const { calls, idThere } = this.#options;
    const { id } = session;
    const context = this.#ownContext(id, joinMethod, { notebook: idThere });
    const { instructions } = await calls.call(toTarget(hub), context.method, context.message, context).catch((error: unknown) => {
      // Nothing was called yet: it may have gone to another hub at this moment.
      const code = codeOf(error);
      throw code === 'hub_gone' || (code === 'bad_notebook' && isPageId(idThere)) ? new NotStarted('not_owner') : error;
    });
    this.#tools = await calls.call(toTarget(hub), 'tools/list', {}, this.#ownContext(id, 'tools/list', {})).catch(() => this.#tools);
    this.#instructions = typeof instructions === 'string' ? instructions : undefined;
    this.#stopEvents = followEvents({
      calls,
      target: toTarget(hub),
      method: notebookEventsMethod,
      caller: this.#callerOf(id),
      onEvent: (event) => this.#events.emit(event as unknown as ProviderEvent),
      // That hub holds this one for gone, and has ended what it had of it; or it holds the notebook no longer.
      onEnd: () => {
        session.isInDoubt = true;
      },
    });
  }

  async #callThere(target: CallTarget, method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const session = this.#session;
    if (session === undefined) throw new NotStarted('not_owner');
    try {
      return await this.#options.calls.call(target, method, params, inSession(context, session.id));
    } catch (error) {
      if (error instanceof NotStarted && error.reason === 'not_owner') session.isInDoubt = true;
      throw error;
    }
  }

  async #requestHere(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const { at, id } = this.#session ?? {};
    if (at === undefined || id === undefined || typeof at === 'string') throw new NotStarted('not_owner');
    return at.request(method, params, inSession(context, id));
  }

  async #leave(session: LinkSession | undefined): Promise<void> {
    if (session === undefined) return;
    const { at, id } = session;
    if (typeof at !== 'string') return at.endSession(id);
    const context = this.#ownContext(id, leaveMethod, {});
    await this.#options.calls.call(toTarget(at), context.method, context.message, context).catch(() => undefined);
  }

  #callerOf(sessionId: string): Caller {
    return { door: 'http', era: 'legacy', clientInfo: undefined, ...this.#agent, sessionId };
  }

  #ownContext(sessionId: string, method: string, params: JsonObject) {
    return toHubContext(method, { params, caller: this.#callerOf(sessionId) });
  }
}

/** An id that no other hub of the cluster gives. */
export function toClusterId(id: string, hubName: string): string {
  return `${id}@${hubName}`;
}

function toTarget(hub: string): CallTarget {
  return { hub, resource: notebooksOfHub, epoch: 0 };
}
