import type { CallContext } from '../core/call-context.js';
import { BridgeError } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import type { Provider } from '../core/provider.js';
import type { JsonObject } from '../util/json.js';
import { isListMethod, type ListMethod, mergeableLists, mergeLists } from './merged-lists.js';

/** Where a request that names something finds its owner. */
const namedRequests: Record<string, { list: ListMethod; param: string }> = {
  'tools/call': { list: 'tools/list', param: 'name' },
  'resources/read': { list: 'resources/list', param: 'uri' },
  'resources/subscribe': { list: 'resources/list', param: 'uri' },
  'resources/unsubscribe': { list: 'resources/list', param: 'uri' },
  'prompts/get': { list: 'prompts/list', param: 'name' },
};

/**
 * Which provider answers what. With one provider (the usual hub) requests pass straight through, cursors and unknown keys
 * included; with several their lists are merged and a name is looked up in them.
 */
export class Catalog {
  readonly #providers: Provider[] = [];
  readonly #owners = new Map<ListMethod, Map<string, Provider>>();
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
    this.#owners.clear();
  }

  /** Answers one request. Rejects with `unknown_method`, `unknown_tool` or what the provider rejects with. */
  async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const [only, ...others] = this.#providers;
    if (only === undefined) return this.#answerEmpty(method, params);
    if (others.length === 0) return only.request(method, params, context);
    if (isListMethod(method)) return this.#list(method, context);
    const owner = await this.#ownerOf(method, params, context);
    return (owner ?? only).request(method, params, context);
  }

  async #list(method: ListMethod, context: CallContext): Promise<JsonObject> {
    const merged = await mergeLists(this.#providers, method, context, ({ provider, item }, owner) => {
      const name = String(item[mergeableLists[method].key]);
      this.#logger.warn(`"${name}" of "${provider.name}" is hidden: "${owner.name}" has one of the same name.`);
    });
    this.#owners.set(method, new Map([...merged].map(([name, { provider }]) => [name, provider])));
    return { [mergeableLists[method].items]: [...merged.values()].map(({ item }) => item) };
  }

  async #ownerOf(method: string, params: JsonObject, context: CallContext): Promise<Provider | undefined> {
    const named = Object.hasOwn(namedRequests, method) ? namedRequests[method] : undefined;
    if (named === undefined) return undefined;
    if (!this.#owners.has(named.list)) await this.#list(named.list, context);
    const owner = this.#owners.get(named.list)?.get(String(params[named.param]));
    if (owner === undefined && method === 'tools/call') throw unknownTool(params);
    return owner;
  }

  #answerEmpty(method: string, params: JsonObject): JsonObject {
    if (isListMethod(method)) return { [mergeableLists[method].items]: [] };
    if (method === 'tools/call') throw unknownTool(params);
    throw new BridgeError('unknown_method', `Nothing here answers "${method}".`);
  }
}

function unknownTool(params: JsonObject): BridgeError {
  return new BridgeError('unknown_tool', `Unknown tool: "${String(params.name)}".`);
}
