import type { CallContext } from '../core/call-context.js';
import type { Provider } from '../core/provider.js';
import { isJsonObject, type JsonObject } from '../util/json.js';

/** Lists that several providers can share: their method, where the items stand, and what tells two items apart. */
export const mergeableLists = {
  'tools/list': { items: 'tools', key: 'name' },
  'resources/list': { items: 'resources', key: 'uri' },
  'resources/templates/list': { items: 'resourceTemplates', key: 'uriTemplate' },
  'prompts/list': { items: 'prompts', key: 'name' },
} as const;
export type ListMethod = keyof typeof mergeableLists;

export function isListMethod(method: string): method is ListMethod {
  return Object.hasOwn(mergeableLists, method);
}

/** An item of a list, and who offers it. */
export interface OwnedItem {
  provider: Provider;
  item: JsonObject;
}

/** Pages of one provider's list that are followed; one that never ends is cut here. */
const maxPages = 1000;

/**
 * The items of all providers under one roof. Of two with the same name the provider that was mounted first keeps it, and the
 * other is reported. A provider that fails is left out, so that one does not hide the rest; if all fail, the first error stands.
 */
export async function mergeLists(
  providers: readonly Provider[],
  method: ListMethod,
  context: CallContext,
  onHidden: (item: OwnedItem, owner: Provider) => void,
): Promise<Map<string, OwnedItem>> {
  const settled = await Promise.allSettled(providers.map((provider) => listAll(provider, method, context)));
  const merged = new Map<string, OwnedItem>();
  for (const [index, provider] of providers.entries()) {
    const outcome = settled[index];
    if (outcome?.status !== 'fulfilled') continue;
    for (const item of outcome.value) {
      const name = String(item[mergeableLists[method].key]);
      const owner = merged.get(name)?.provider;
      if (owner === undefined) merged.set(name, { provider, item });
      else onHidden({ provider, item }, owner);
    }
  }
  const failed = settled.find((outcome) => outcome.status === 'rejected');
  if (merged.size === 0 && failed !== undefined && settled.every(({ status }) => status === 'rejected')) throw failed.reason;
  return merged;
}

async function listAll(provider: Provider, method: ListMethod, context: CallContext): Promise<JsonObject[]> {
  const items: JsonObject[] = [];
  let cursor: unknown;
  for (let page = 0; page < maxPages; page++) {
    const result = await provider.request(method, cursor === undefined ? {} : { cursor }, context);
    const listed = result[mergeableLists[method].items];
    if (Array.isArray(listed)) items.push(...listed.filter(isJsonObject));
    cursor = result.nextCursor;
    if (cursor === undefined || cursor === null) break;
  }
  return items;
}
