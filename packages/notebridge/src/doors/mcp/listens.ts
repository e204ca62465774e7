import type { Cancellation } from '../../core/cancellation.js';
import { BridgeError } from '../../core/errors.js';
import { subscriptionIdMetaKey } from '../../core/modern-envelope.js';
import type { ProviderEvent } from '../../core/provider.js';
import { idKey, type RpcId } from '../../core/rpc.js';
import { isJsonObject, type JsonObject } from '../../util/json.js';

/** The key of a listen filter for each notification that is sent only to who listens. */
const filterKeys: Record<string, string> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
};

interface Listen {
  id: RpcId;
  filter: JsonObject;
  end: () => void;
}

/** Listens that one connection may hold open. */
const maxListens = 1024;

/**
 * The open `subscriptions/listen` requests of a modern connection. Each is a request that is answered when it ends; until then
 * the changes it asked for are sent under its id.
 */
export class Listens {
  readonly #listens = new Map<string | number, Listen>();
  readonly #notify: (method: string, params: JsonObject) => void;

  constructor(notify: (method: string, params: JsonObject) => void) {
    this.#notify = notify;
  }

  /** Serves one listen until it is cancelled or `endAll` is called. Rejects with `bad_params` or `limit_reached`. */
  serve(id: RpcId, params: JsonObject, call: Cancellation): Promise<JsonObject> {
    const filter = parseFilter(params);
    if (this.#listens.size >= maxListens) throw new BridgeError('limit_reached', `${maxListens} listens are open on this connection.`);
    return new Promise((resolve) => {
      const end = (): void => {
        this.#listens.delete(idKey(id));
        resolve({ _meta: { [subscriptionIdMetaKey]: id } });
      };
      this.#listens.set(idKey(id), { id, filter, end });
      call.onCancel(end);
      this.#send(id, 'notifications/subscriptions/acknowledged', { notifications: filter });
    });
  }

  /** Sends an event to every listen that asked for it. */
  tell({ method, params }: ProviderEvent): void {
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
    this.#notify(method, { ...params, _meta: { ...meta, [subscriptionIdMetaKey]: id } });
  }
}

/** What is asked for and can be had; keys that we do not know are not honoured, and so not acknowledged. */
function parseFilter(params: JsonObject): JsonObject {
  const asked = params.notifications;
  if (!isJsonObject(asked)) throw new BridgeError('bad_params', '"notifications" must be an object that names what to listen to.');
  const filter: JsonObject = {};
  for (const key of Object.values(filterKeys)) if (asked[key] === true) filter[key] = true;
  const uris = asked.resourceSubscriptions;
  if (Array.isArray(uris) && uris.length > 0) filter.resourceSubscriptions = uris.filter((uri) => typeof uri === 'string');
  return filter;
}

function isWanted(filter: JsonObject, method: string, params: JsonObject | undefined): boolean {
  if (method === 'notifications/resources/updated') {
    return Array.isArray(filter.resourceSubscriptions) && filter.resourceSubscriptions.includes(params?.uri);
  }
  const key = Object.hasOwn(filterKeys, method) ? filterKeys[method] : undefined;
  return key !== undefined && filter[key] === true;
}
