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
