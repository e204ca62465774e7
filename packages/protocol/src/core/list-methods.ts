/** Lists of MCP: their method, where the items stand, what identifies an item, and what one is called. */
export const listMethods = {
  'tools/list': { items: 'tools', key: 'name', one: 'tool' },
  'resources/list': { items: 'resources', key: 'uri', one: 'resource' },
  'resources/templates/list': { items: 'resourceTemplates', key: 'uriTemplate', one: 'resource template' },
  'prompts/list': { items: 'prompts', key: 'name', one: 'prompt' },
} as const;
export type ListMethod = keyof typeof listMethods;

export function isListMethod(method: string): method is ListMethod {
  return Object.hasOwn(listMethods, method);
}

/** What a server that does not have such things is not asked for: the capability that each method needs. */
export const neededCapabilities: Readonly<Record<string, string>> = {
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'resources/subscribe': 'resources',
  'resources/unsubscribe': 'resources',
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'completion/complete': 'completions',
};
/** Methods that only read, so that they may be sent again when the server died over them. */
export const readingMethods = new Set([...Object.keys(listMethods), 'resources/read', 'prompts/get', 'completion/complete']);
