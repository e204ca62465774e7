import { type CacheHints, cacheHintsOf, mergeCacheHints } from '@notebridge/protocol/core/cache-hints';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { codeOf, errorTable, RemoteError } from '@notebridge/protocol/core/errors';
import { type ListMethod, listMethods } from '@notebridge/protocol/core/list-methods';
import type { Provider } from '@notebridge/protocol/core/provider';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { appendAll } from '@notebridge/protocol/util/long-lists';

/** The lists of several providers as one. */
export interface MergedList {
  /** What is offered: each item under its name, with who offers it. */
  offered: Map<string, { provider: Provider; item: JsonObject }>;
  /** What is not: an earlier provider has an item of the same name. */
  hidden: { provider: Provider; name: string; owner: Provider }[];
  /** Who could not be asked. */
  failed: { provider: Provider; error: unknown }[];
  /** How long all of it may be kept; undefined: not at all. */
  cache: CacheHints | undefined;
}

/** Pages of one provider's list that are followed; one that never ends is cut here. */
const maxPages = 1000;

/**
 * The items of all providers in one list. Of two with the same name the one that `hasTool` keeps it, else the provider that was mounted first. A provider
 * that fails is left out, so that one does not hide the rest; if nothing is left then, rejects with the first error.
 */
export async function mergeLists(providers: readonly Provider[], method: ListMethod, context: CallContext): Promise<MergedList> {
  const asked = await Promise.all(
    providers.map((provider) =>
      listAll(provider, method, context).then(
        (listed) => ({ provider, ...listed }),
        (error: unknown) => ({ provider, error }),
      ),
    ),
  );
  const { key } = listMethods[method];
  const merged: MergedList = { offered: new Map(), hidden: [], failed: [], cache: undefined };
  for (const answer of asked) {
    if ('error' in answer) {
      merged.failed.push(answer);
      continue;
    }
    const { provider, items } = answer;
    for (const item of items) {
      const name = item[key];
      // Without a name nobody could ask for it.
      if (typeof name !== 'string') continue;
      const keeper = method === 'tools/list' ? providers.find((each) => each.hasTool?.(name)) : undefined;
      const owner = keeper === provider ? undefined : (keeper ?? merged.offered.get(name)?.provider);
      if (owner === undefined) merged.offered.set(name, { provider, item });
      else merged.hidden.push({ provider, name, owner });
    }
  }
  // What is incomplete may be complete in a moment.
  if (merged.failed.length === 0) merged.cache = mergeCacheHints(asked.map((answer) => ('cache' in answer ? answer.cache : undefined)));
  const [failure] = merged.failed;
  // That there is nothing is not known.
  if (failure !== undefined && merged.offered.size === 0) throw failure.error;
  return merged;
}

interface Listed {
  items: JsonObject[];
  cache: CacheHints | undefined;
}

async function listAll(provider: Provider, method: ListMethod, context: CallContext): Promise<Listed> {
  const items: JsonObject[] = [];
  const hints: (CacheHints | undefined)[] = [];
  let cursor: unknown;
  for (let page = 0; page < maxPages; page++) {
    const result = await provider.request(method, cursor === undefined ? {} : { cursor }, context).catch(toEmptyResult);
    const listed = result[listMethods[method].items];
    if (Array.isArray(listed)) appendAll(items, listed.filter(isJsonObject));
    hints.push(cacheHintsOf(result));
    const last = cursor;
    cursor = result.nextCursor;
    if (cursor === undefined || cursor === null || cursor === last) break;
  }
  return { items, cache: mergeCacheHints(hints) };
}

/** A provider that does not know the method has none of these: that is no failure. */
function toEmptyResult(error: unknown): JsonObject {
  const isUnknownMethod =
    codeOf(error) === 'unknown_method' || (error instanceof RemoteError && error.raw.code === errorTable.unknown_method.rpcCode);
  if (isUnknownMethod) return {};
  throw error;
}
