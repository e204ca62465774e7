import { isJsonObject, type JsonObject } from '../util/json.js';

export type WhatIsNamed = 'resource' | 'prompt';

/** What the tools of the notebook are called in patterns: `notebook:get_cells`. */
export const notebookServer = 'notebook';

/** Requests that say nothing of any server, or of which only the answers to other requests matter. */
export const freeMethods: ReadonlySet<string> = new Set([
  'initialize',
  'server/discover',
  'ping',
  'logging/setLevel',
  // Asks for news of lists; the resources in it go through the chain one by one, as `resources/subscribe`.
  'subscriptions/listen',
]);

/** Lists of things that belong to servers: where the items are, and what an item is known by. */
export const listedItems: Record<string, { items: string; kind: WhatIsNamed; key: string }> = {
  'resources/list': { items: 'resources', kind: 'resource', key: 'uri' },
  'resources/templates/list': { items: 'resourceTemplates', kind: 'resource', key: 'uriTemplate' },
  'prompts/list': { items: 'prompts', kind: 'prompt', key: 'name' },
};

interface ServerRequest {
  /** What the request is about, from its params; undefined if they do not say. */
  nameIn: (params: JsonObject) => { kind: WhatIsNamed; name: string } | undefined;
  /** True for what the owner's audit has a line of; of grants it has one of every request. */
  isAudited: boolean;
}

const uriOf = ({ uri }: JsonObject): ReturnType<ServerRequest['nameIn']> =>
  typeof uri === 'string' ? { kind: 'resource', name: uri } : undefined;
const promptOf = ({ name }: JsonObject): ReturnType<ServerRequest['nameIn']> =>
  typeof name === 'string' ? { kind: 'prompt', name } : undefined;

/** Requests about one thing of one server. */
export const serverRequests: Record<string, ServerRequest> = {
  'resources/read': { nameIn: uriOf, isAudited: true },
  'resources/subscribe': { nameIn: uriOf, isAudited: false },
  'resources/unsubscribe': { nameIn: uriOf, isAudited: false },
  'prompts/get': { nameIn: promptOf, isAudited: true },
  'completion/complete': {
    nameIn: ({ ref }) => {
      if (!isJsonObject(ref)) return undefined;
      return ref.type === 'ref/prompt' ? promptOf(ref) : uriOf(ref);
    },
    isAudited: false,
  },
};
