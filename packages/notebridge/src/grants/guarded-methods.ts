import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';

export type WhatIsNamed = 'resource' | 'prompt';

/** What the tools of the notebook are called in patterns: `notebook:get_cells`. */
export const notebookServer = 'notebook';

/** What of a message decides whether a grant may send it. */
export type MethodRule =
  /** Says nothing of any server, or asks only for the answers to other requests: for every grant that lives. */
  | { kind: 'free' }
  /** Calls one tool. */
  | { kind: 'call' }
  /** Lists tools: each grant sees those that it may call. */
  | { kind: 'tools' }
  /** Lists things that belong to servers: where the items are, and what an item is known by. */
  | { kind: 'list'; items: string; about: WhatIsNamed; key: string }
  /** Is about one thing of one server, named in its params. */
  | { kind: 'item'; nameIn: (params: JsonObject) => { kind: WhatIsNamed; name: string } | undefined }
  /** Reaches every server: only for grants that allow everything. */
  | { kind: 'everything' };

type NameIn = Extract<MethodRule, { kind: 'item' }>['nameIn'];

const uriOf: NameIn = ({ uri }) => (typeof uri === 'string' ? { kind: 'resource', name: uri } : undefined);
const promptOf: NameIn = ({ name }) => (typeof name === 'string' ? { kind: 'prompt', name } : undefined);

const free: MethodRule = { kind: 'free' };

/** The requests that the guard knows. One that is not here is refused to all but the owner. */
const requests: ReadonlyMap<string, MethodRule> = new Map<string, MethodRule>([
  ['initialize', free],
  ['server/discover', free],
  ['ping', free],
  ['logging/setLevel', free],
  // Asks for news of lists; the resources in it go through the chain one by one, as `resources/subscribe`.
  ['subscriptions/listen', free],
  // Ask for the answer to a call of their own sender, and of nobody else.
  ['tasks/get', free],
  ['tasks/result', free],
  ['tasks/list', free],
  ['tasks/cancel', free],
  ['tasks/update', free],
  ['tools/call', { kind: 'call' }],
  ['tools/list', { kind: 'tools' }],
  ['resources/list', { kind: 'list', items: 'resources', about: 'resource', key: 'uri' }],
  ['resources/templates/list', { kind: 'list', items: 'resourceTemplates', about: 'resource', key: 'uriTemplate' }],
  ['prompts/list', { kind: 'list', items: 'prompts', about: 'prompt', key: 'name' }],
  ['resources/read', { kind: 'item', nameIn: uriOf }],
  ['resources/subscribe', { kind: 'item', nameIn: uriOf }],
  ['resources/unsubscribe', { kind: 'item', nameIn: uriOf }],
  ['prompts/get', { kind: 'item', nameIn: promptOf }],
  [
    'completion/complete',
    {
      kind: 'item',
      nameIn: ({ ref }) => {
        if (!isJsonObject(ref)) return undefined;
        return ref.type === 'ref/prompt' ? promptOf(ref) : uriOf(ref);
      },
    },
  ],
]);

/** The notifications that the guard knows. */
const notifications: ReadonlyMap<string, MethodRule> = new Map<string, MethodRule>([
  // They end at the door.
  ['notifications/initialized', free],
  ['notifications/cancelled', free],
  ['notifications/progress', { kind: 'everything' }],
  ['notifications/roots/list_changed', { kind: 'everything' }],
]);

/** What an owner's audit has lines of; of grants it has one of every request about something, and of everything refused. */
const auditedForAll: ReadonlySet<string> = new Set(['tools/call', 'resources/read', 'prompts/get']);

/** The rules, by the type of a message and its method. A notification that is called like a request is none of these. */
export const methodRules = { request: requests, notification: notifications };

/** True for requests that are recorded for every sender. */
export function isAuditedForAll({ method }: { method: string }): boolean {
  return auditedForAll.has(method);
}
