import type { Tool } from '../../core/mcp.js';

export const maxQueryLength = 1000;
/** Of what is found, and of lists of all that there is. */
export const defaultLimit = 10;
export const maxLimit = 50;
/** Tools that are described at once. */
export const maxDescribed = 20;
/** No search of more tools than these would be quick. */
export const maxSearched = 20_000;

/** Every agent pays for these words before its first one. */
export const searchToolsTool: Tool = {
  name: 'search_tools',
  description: 'Find tools by what they do. Without query: lists the tools of `server`, or all servers.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'Words or a sentence' },
      server: { type: 'string' },
      read_only: { type: 'boolean', description: 'Only tools marked read-only' },
      limit: { type: 'integer', minimum: 1, maximum: maxLimit, description: `Default ${defaultLimit}, of lists ${maxLimit}` },
      offset: { type: 'integer', minimum: 0, default: 0 },
      detail: { enum: ['name', 'line', 'full'], default: 'line', description: 'full: with signatures' },
    },
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

export const describeToolsTool: Tool = {
  name: 'describe_tools',
  description: 'Import lines, typed signatures and documentation of tools, as code calls them.',
  inputSchema: {
    type: 'object',
    properties: {
      tools: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: maxDescribed, description: '"server.tool"' },
    },
    required: ['tools'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};
