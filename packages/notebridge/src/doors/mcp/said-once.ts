import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';

/** Resources of one session; more are not remembered. */
const mostResources = 1000;
/** A longer part of what an agent says of itself (a picture) is not remembered. */
const mostCharacters = 1000;

/** The messages that are given to another hub. */
const methods: ReadonlySet<unknown> = new Set(['initialize', 'notifications/initialized', 'logging/setLevel', 'resources/subscribe']);

/** True for a message that an agent says once. What the last hub has left may have been changed meanwhile: nothing else is said for an agent, no call. */
export function isSaidOnce({ method }: JsonObject): boolean {
  return methods.has(method);
}

/** What an agent of the legacy era says once and means from then on: so that another hub can be told. */
export class SaidOnce {
  #initialize: JsonObject | undefined;
  #initialized: JsonObject | undefined;
  #level: JsonObject | undefined;
  readonly #watched = new Map<string, JsonObject>();

  note(message: JsonObject): void {
    const { method, params } = message;
    if (typeof method !== 'string') return;
    if (method === 'initialize') this.#initialize = { ...message, params: withoutLong(params) };
    else if (method === 'notifications/initialized') this.#initialized = message;
    else if (method === 'logging/setLevel') this.#level = message;
    else if (method === 'resources/subscribe' || method === 'resources/unsubscribe') this.#noteResource(method, params, message);
  }

  /** In an order in which they can be said again, each under an id of its own. */
  get all(): JsonObject[] {
    const said = [this.#initialize, this.#initialized, this.#level, ...this.#watched.values()].filter((message) => message !== undefined);
    return said.map((message, at) => (message.id === undefined ? message : { ...message, id: `said-${at}` }));
  }

  #noteResource(method: string, params: unknown, message: JsonObject): void {
    const uri = isJsonObject(params) ? params.uri : undefined;
    if (typeof uri !== 'string') return;
    if (method === 'resources/unsubscribe') this.#watched.delete(uri);
    else if (this.#watched.size < mostResources) this.#watched.set(uri, message);
  }
}

function withoutLong(params: unknown): unknown {
  if (!isJsonObject(params) || !isJsonObject(params.clientInfo)) return params;
  const short = Object.entries(params.clientInfo).filter(([, part]) => JSON.stringify(part).length <= mostCharacters);
  return { ...params, clientInfo: Object.fromEntries(short) };
}
