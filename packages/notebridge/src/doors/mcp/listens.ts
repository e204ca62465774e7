import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { MiddlewareContext } from '@notebridge/protocol/core/middleware';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import { taskEvent } from '@notebridge/protocol/core/task-servers';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { idKey, type RpcId } from '@notebridge/protocol/rpc/messages';
import { subscriptionIdMetaKey } from '@notebridge/protocol/rpc/modern-envelope';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Hub } from '../../hub.js';

/** The key of a listen filter for each notification that is sent only to listeners. */
const filterKeys: Record<string, string> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
};

/** A filter of which every part is honoured. */
type Filter = JsonObject & { resourceSubscriptions?: string[]; taskIds?: string[] };

interface Listen {
  id: RpcId;
  filter: Filter;
  end: () => void;
}

export interface ListensOptions {
  notify: (method: string, params: JsonObject) => void;
  /** Called when the first listen names a resource. Returns what is to be done after the last. */
  watchResource: (uri: string) => () => void;
}

/** Listens that one connection may hold open. */
const maxListens = 1024;

/**
 * The open `subscriptions/listen` requests of a modern connection. Each is a request that is answered when it ends; until then
 * the changes it asked for are sent under its id.
 */
export class Listens {
  readonly #options: ListensOptions;
  readonly #listens = new Map<string | number, Listen>();
  readonly #watches = new Map<string, { listens: number; stop: () => void }>();

  constructor(options: ListensOptions) {
    this.#options = options;
  }

  /** Listens that are open. */
  get size(): number {
    return this.#listens.size;
  }

  /** Serves one listen until it is cancelled or `endAll` is called. Rejects with `bad_params` or `limit_reached`. */
  async serve(id: RpcId, params: JsonObject, call: Cancellation): Promise<JsonObject> {
    const filter = parseFilter(params);
    if (this.#listens.size >= maxListens) throw new BridgeError('limit_reached', `${maxListens} listens are open on this connection.`);
    const key = idKey(id);
    if (this.#listens.has(key)) throw new BridgeError('bad_params', `A listen with the id ${JSON.stringify(id)} is open already.`);
    return new Promise((resolve) => {
      const stops = (filter.resourceSubscriptions ?? []).map((uri) => this.#watch(uri));
      const end = (): void => {
        // Once: it is ended by the agent or by us, whichever comes first.
        if (!this.#listens.delete(key)) return;
        for (const stop of stops) stop();
        resolve({ _meta: { [subscriptionIdMetaKey]: id } });
      };
      this.#listens.set(key, { id, filter, end });
      call.onCancel(end);
      this.#send(id, 'notifications/subscriptions/acknowledged', { notifications: filter });
    });
  }

  /** Sends an event to every listen that asked for it. */
  notify({ method, params }: ProviderEvent): void {
    for (const { id, filter } of this.#listens.values()) {
      if (isWanted(filter, method, params)) this.#send(id, method, params ?? {});
    }
  }

  /** Answers every open listen: nothing more will come. */
  endAll(): void {
    for (const { end } of [...this.#listens.values()]) end();
  }

  #send(id: RpcId, method: string, params: JsonObject): void {
    const meta = isJsonObject(params._meta) ? params._meta : {};
    this.#options.notify(method, { ...params, _meta: { ...meta, [subscriptionIdMetaKey]: id } });
  }

  /** Watches a resource for as long as some listen names it. */
  #watch(uri: string): () => void {
    const watch = this.#watches.get(uri) ?? { listens: 0, stop: this.#options.watchResource(uri) };
    this.#watches.set(uri, watch);
    watch.listens++;
    return () => {
      if (--watch.listens > 0) return;
      this.#watches.delete(uri);
      watch.stop();
    };
  }
}

/** Has the providers watch a resource, as a legacy agent would: its updates then come as events. Gives the way to stop. */
export function createWatch(
  hub: Hub,
  toContext: (method: string, params: JsonObject) => MiddlewareContext,
): ListensOptions['watchResource'] {
  const ask = async (method: string, uri: string): Promise<void> => {
    try {
      await hub.request(toContext(method, { uri }));
    } catch (error) {
      hub.logger.debug('Whether a resource is watched could not be changed.', { method, uri, error: messageOf(error) });
    }
  };
  return (uri) => {
    void ask('resources/subscribe', uri);
    return () => void ask('resources/unsubscribe', uri);
  };
}

/** What is asked for and can be had; keys that we do not know are not honoured, and so not acknowledged. */
function parseFilter(params: JsonObject): Filter {
  const asked = params.notifications;
  if (!isJsonObject(asked)) throw new BridgeError('bad_params', '"notifications" must be an object that names what to listen to.');
  const filter: Filter = {};
  for (const key of Object.values(filterKeys)) if (asked[key] === true) filter[key] = true;
  const uris = Array.isArray(asked.resourceSubscriptions) ? asked.resourceSubscriptions.filter((uri) => typeof uri === 'string') : [];
  if (uris.length > 0) filter.resourceSubscriptions = [...new Set(uris)];
  // Which of them are the agent's own, a layer further out has seen to.
  const taskIds = Array.isArray(asked.taskIds) ? asked.taskIds.filter((id) => typeof id === 'string') : [];
  if (taskIds.length > 0) filter.taskIds = [...new Set(taskIds)];
  return filter;
}

function isWanted(filter: Filter, method: string, params: JsonObject | undefined): boolean {
  if (method === 'notifications/resources/updated') return filter.resourceSubscriptions?.some((uri) => uri === params?.uri) === true;
  if (method === taskEvent) return filter.taskIds?.some((id) => id === params?.taskId) === true;
  const key = Object.hasOwn(filterKeys, method) ? filterKeys[method] : undefined;
  return key !== undefined && filter[key] === true;
}
