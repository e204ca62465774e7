import type { Tool } from '@notebridge/protocol/core/mcp';

/** Tools that show what the Python bindings make of them: `test/python/check_package.py` knows each. */
export const shopTools: readonly Tool[] = [
  {
    name: 'order',
    description: 'Orders something. To drink, mostly.',
    inputSchema: {
      type: 'object',
      properties: {
        count: { type: 'integer', description: 'How many', default: 1 },
        note: { type: ['string', 'null'] },
        item: { type: 'string', enum: ['tea', 'coffee'] },
        tags: { type: 'array', items: { type: 'string' }, default: ['new'] },
      },
      required: ['item'],
    },
    outputSchema: { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'] },
    annotations: { destructiveHint: true },
  },
  { name: 'nothing', description: 'Takes nothing.', inputSchema: { type: 'object', properties: {} } },
  {
    name: 'odd-names',
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(['from', 'arguments', 'self', 'timeout', 'größe', 'x-y'].map((name) => [name, { type: 'string' }])),
    },
  },
  { name: 'open_tool', inputSchema: { type: 'object', properties: { known: { type: 'integer' } }, additionalProperties: true } },
  {
    name: 'tree',
    inputSchema: {
      type: 'object',
      properties: { root: { $ref: '#/$defs/Node' } },
      $defs: {
        Node: {
          type: 'object',
          properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/Node' } } },
          required: ['name'],
        },
      },
    },
  },
  { name: 'get-user', inputSchema: { type: 'object', properties: {} } },
  { name: 'get_user', inputSchema: { type: 'object', properties: {} } },
];

export const ping: Tool = { name: 'ping', inputSchema: { type: 'object', properties: {} } };

/** What becomes of them later: one has another parameter, one is new, one is gone. */
export const laterShopTools: readonly Tool[] = [
  ...shopTools
    .filter(({ name }) => name !== 'nothing')
    .map((tool) =>
      tool.name === 'order' ? { ...tool, inputSchema: { type: 'object', properties: { color: { type: 'string' } } } } : tool,
    ),
  { name: 'brand_new', inputSchema: { type: 'object', properties: {} } },
];
