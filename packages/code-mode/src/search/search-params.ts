import type { Tool } from '@notebridge/protocol/core/mcp';
import { quote } from '@notebridge/protocol/util/quote';
import { choiceOf, flagOf, numberOf, readArguments, textOf, wrongArgument } from './read-arguments.js';

const maxQueryLength = 1000;
/** Of what is found, and of lists of all that there is. */
const defaultLimit = 10;
const maxLimit = 50;
/** Tools that are described at once. */
const maxDescribed = 20;

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

export type SearchParams = ReturnType<typeof parseSearch>;

/** Throws `invalid_arguments` that names the argument. */
export function parseSearch(params: unknown) {
  const given = readArguments(params, searchToolsTool.inputSchema);
  const query = (textOf(given, 'query') ?? '').trim();
  if (query.length > maxQueryLength)
    throw wrongArgument(`"query" has ${query.length} characters, and at most ${maxQueryLength} are searched for. Say it in fewer words.`);
  return {
    /** Trimmed; empty: nothing is searched for. */
    query,
    server: textOf(given, 'server'),
    readOnly: flagOf(given, 'read_only'),
    limit: numberOf(given, 'limit', { least: 1, most: maxLimit }) ?? (query === '' ? maxLimit : defaultLimit),
    offset: numberOf(given, 'offset', { least: 0, most: Number.MAX_SAFE_INTEGER }) ?? 0,
    detail: choiceOf(given, 'detail', ['name', 'line', 'full'] as const) ?? 'line',
  };
}

/** The names of the tools. Throws `invalid_arguments` that names the argument. */
export function parseDescribe(params: unknown): string[] {
  const given = readArguments(params, describeToolsTool.inputSchema);
  // One name by itself is understood too.
  const tools = typeof given.tools === 'string' ? [given.tools] : given.tools;
  if (!Array.isArray(tools) || tools.length === 0 || !tools.every((name) => typeof name === 'string'))
    throw wrongArgument(`"tools" must be a list of names like "server.tool", found ${quote(given.tools)}. search_tools finds them.`);
  if (tools.length > maxDescribed)
    throw wrongArgument(`"tools" names ${tools.length} tools, and at most ${maxDescribed} are described at once.`);
  return [...new Set(tools)];
}
