import { quote } from '../../util/quote.js';
import { choiceOf, flagOf, numberOf, readArguments, textOf, wrongArgument } from '../read-arguments.js';
import { defaultLimit, describeToolsTool, maxDescribed, maxLimit, maxQueryLength, searchToolsTool } from './definitions.js';

export type Detail = 'name' | 'line' | 'full';

export interface SearchParams {
  /** Trimmed; empty: nothing is searched for. */
  query: string;
  server: string | undefined;
  readOnly: boolean;
  limit: number;
  offset: number;
  detail: Detail;
}

export interface DescribeParams {
  tools: string[];
}

/** Throws `invalid_arguments` that names the argument. */
export function parseSearch(params: unknown): SearchParams {
  const given = readArguments(params, searchToolsTool.inputSchema);
  const query = (textOf(given, 'query') ?? '').trim();
  if (query.length > maxQueryLength)
    throw wrongArgument(`"query" has ${query.length} characters, and at most ${maxQueryLength} are searched for. Say it in fewer words.`);
  return {
    query,
    server: textOf(given, 'server'),
    readOnly: flagOf(given, 'read_only'),
    limit: numberOf(given, 'limit', { least: 1, most: maxLimit }) ?? (query === '' ? maxLimit : defaultLimit),
    offset: numberOf(given, 'offset', { least: 0, most: Number.MAX_SAFE_INTEGER }) ?? 0,
    detail: choiceOf(given, 'detail', ['name', 'line', 'full']) ?? 'line',
  };
}

/** Throws `invalid_arguments` that names the argument. */
export function parseDescribe(params: unknown): DescribeParams {
  const given = readArguments(params, describeToolsTool.inputSchema);
  // One name by itself is understood too.
  const tools = typeof given.tools === 'string' ? [given.tools] : given.tools;
  if (!Array.isArray(tools) || tools.length === 0 || !tools.every((name) => typeof name === 'string'))
    throw wrongArgument(`"tools" must be a list of names like "server.tool", found ${quote(given.tools)}. search_tools finds them.`);
  if (tools.length > maxDescribed)
    throw wrongArgument(`"tools" names ${tools.length} tools, and at most ${maxDescribed} are described at once.`);
  return { tools: [...new Set(tools)] };
}
