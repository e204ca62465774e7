import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { isListMethod, type ListMethod, listMethods } from '@notebridge/protocol/core/list-methods';
import type { MiddlewareContext } from '@notebridge/protocol/core/middleware';
import type { ParamHeader } from '@notebridge/protocol/core/param-headers';
import type { Provider } from '@notebridge/protocol/core/provider';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { ListPages, unknownCursor } from './list-pages.js';
import { type MergedList, mergeLists } from './merged-lists.js';
import { notListed } from './not-listed.js';

/** In which list a request that names something finds its owner, and by which name. Undefined: in none. */
const namedRequests: Record<string, (params: JsonObject) => { list: ListMethod; name: unknown } | undefined> = {
  'tools/call': ({ name }) => ({ list: 'tools/list', name }),
  'resources/read': ({ uri }) => ({ list: 'resources/list', name: uri }),
  'resources/subscribe': ({ uri }) => ({ list: 'resources/list', name: uri }),
  'resources/unsubscribe': ({ uri }) => ({ list: 'resources/list', name: uri }),
  'prompts/get': ({ name }) => ({ list: 'prompts/list', name }),
  'completion/complete': ({ ref }) => {
    if (!isJsonObject(ref)) return undefined;
    return ref.type === 'ref/prompt' ? { list: 'prompts/list', name: ref.name } : { list: 'resources/templates/list', name: ref.uri };
  },
};

/**
 * Which provider answers what. With one provider (the usual hub) requests pass straight through, cursors and unknown keys
 * included; with several their lists are merged and a name is looked up in them.
 */
export class Catalog {
  readonly #providers: Provider[] = [];
  /** Who offers which name; another map after each change, so that a list asked for before it is not remembered. */
  #owners = new Map<ListMethod, MergedList['offered']>();
  readonly #pages = new ListPages();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get providers(): readonly Provider[] {
    return this.#providers;
  }

  add(provider: Provider): void {
    this.#providers.push(provider);
    this.forget();
  }

  /** Drops what was learnt of names: some list has changed. */
  forget(): void {
    this.#owners = new Map();
  }

  /** That of the provider that has such a tool first. */
  paramHeadersOf(name: unknown): readonly ParamHeader[] {
    for (const provider of this.#providers) {
      const headers = provider.paramHeadersOf?.(name) ?? [];
      if (headers.length > 0) return headers;
    }
    return [];
  }

  /** Answers one request. Rejects with `unknown_method`, `unknown_tool` or what the provider rejects with. */
  request(context: MiddlewareContext): Promise<JsonObject> {
    const [first] = this.#providers;
    const isOnly = first !== undefined && this.#providers.length === 1;
    if (isListMethod(context.method)) return this.#requestList(context.method, context, isOnly ? first : undefined);
    return isOnly ? requestOf(first, context) : this.#requestOwner(first, context);
  }

  /** `only`: it may have pages of its own, whose cursors are its own. */
  async #requestList(method: ListMethod, context: MiddlewareContext, only: Provider | undefined): Promise<JsonObject> {
    const { items: key } = listMethods[method];
    // Some agents print null for a cursor that they do not have.
    const cursor = context.message.cursor ?? undefined;
    const page = cursor === undefined ? undefined : this.#pages.next(method, cursor, context);
    if (page !== undefined) return page;
    if (only !== undefined) return this.#pages.first(method, key, await requestOf(only, context), context);
    if (cursor !== undefined) throw unknownCursor(method, cursor);
    if (this.#providers.length === 0) return { [key]: [] };
    const { offered, cache } = await this.#list(method, context);
    return this.#pages.first(method, key, { [key]: [...offered.values()].map(({ item }) => item), ...cache }, context);
  }

  async #requestOwner(first: Provider | undefined, context: MiddlewareContext): Promise<JsonObject> {
    const { method, message: params } = context;
    if (first === undefined) throw method === 'tools/call' ? unknownTool(params) : unknownMethod(method);
    const named = Object.hasOwn(namedRequests, method) ? namedRequests[method]?.(params) : undefined;
    if (named === undefined) return this.#requestInTurn(context);
    const name = named.name as string;
    const keeper = method === 'tools/call' ? this.#providers.find((provider) => provider.hasTool?.(name)) : undefined;
    if (keeper !== undefined) return requestOf(keeper, context);
    const known = this.#owners.get(named.list)?.get(name);
    // What another agent has listed last may not be what this one is offered.
    if (known !== undefined) return requestOf(known.provider, context);
    const { offered, failed } = await this.#list(named.list, context);
    const owner = offered.get(name)?.provider;
    if (owner !== undefined) return requestOf(owner, context);
    if (method === 'tools/call') throw this.#whyUnknown(params, failed);
    return this.#requestInTurn(context);
  }

  #whyUnknown(params: JsonObject, [failure]: MergedList['failed']): Error {
    const { name } = params;
    for (const provider of typeof name === 'string' ? this.#providers : []) {
      const why = provider.whyUnknown?.(name as string);
      if (why !== undefined) return why;
    }
    return failure === undefined ? unknownTool(params) : notListed(name, failure.provider.name, failure.error);
  }

  /** What no provider lists (a resource of a template, a completion) may be known all the same: the first that answers has it. */
  async #requestInTurn(context: MiddlewareContext): Promise<JsonObject> {
    const failures: unknown[] = [];
    for (const provider of this.#providers) {
      try {
        return await requestOf(provider, context);
      } catch (error) {
        if (context.cancellation.reason !== undefined) throw error;
        failures.push(error);
      }
    }
    // The failure of a provider that knows the thing says more than that of one that does not.
    throw failures.find((error) => !isIgnorance(error)) ?? failures[0];
  }

  async #list(method: ListMethod, context: CallContext): Promise<MergedList> {
    const owners = this.#owners;
    const merged = await mergeLists(this.#providers, method, context);
    const { offered, hidden, failed } = merged;
    for (const { provider, name, owner } of hidden) {
      this.#logger.warn(`"${name}" of "${provider.name}" is hidden: "${owner.name}" has one of the same name.`);
    }
    for (const { provider, error } of failed) {
      this.#logger.warn(`"${provider.name}" is left out: it did not answer "${method}".`, { error: messageOf(error) });
    }
    // What a failed provider has would stay unknown; the next request asks again.
    if (failed.length === 0) owners.set(method, offered);
    return merged;
  }
}

function requestOf(provider: Provider, context: MiddlewareContext): Promise<JsonObject> {
  return provider.request(context.method, context.message, context);
}

/** A provider that has nothing to do with the request. */
function isIgnorance(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'unknown_method' || code === 'bad_params' || code === 'not_connected';
}

function unknownMethod(method: string): BridgeError {
  return new BridgeError('unknown_method', `Nothing here answers "${method}".`);
}

function unknownTool(params: JsonObject): BridgeError {
  return new BridgeError('unknown_tool', `Unknown tool: ${quote(params.name)}.`);
}
