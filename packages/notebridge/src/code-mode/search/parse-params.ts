import { didYouMean } from '@notebridge/kit/did-you-mean';
import { isJsonObject } from '@notebridge/kit/json';
import { BridgeError } from '../../core/errors.js';
import { quote } from '../../util/quote.js';
import { defaultLimit, describeToolsTool, maxDescribed, maxLimit, maxQueryLength, searchToolsTool } from './definitions.js';

export type Detail = 'name' | 'line' | 'full';
export type StubLanguage = 'python' | 'typescript';

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
  language: StubLanguage;
}

/** Throws `invalid_arguments` that names the argument. */
export function parseSearch(params: unknown): SearchParams {
  const given = argumentsOf(params, searchToolsTool.inputSchema);
  const query = (textOf(given, 'query') ?? '').trim();
  if (query.length > maxQueryLength)
    throw wrong(`"query" has ${query.length} characters, and at most ${maxQueryLength} are searched for. Say it in fewer words.`);
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
  const given = argumentsOf(params, describeToolsTool.inputSchema);
  // One name by itself is understood too.
  const tools = typeof given.tools === 'string' ? [given.tools] : given.tools;
  if (!Array.isArray(tools) || tools.length === 0 || !tools.every((name) => typeof name === 'string'))
    throw wrong(`"tools" must be a list of names like "server.tool", found ${quote(given.tools)}. search_tools finds them.`);
  if (tools.length > maxDescribed) throw wrong(`"tools" names ${tools.length} tools, and at most ${maxDescribed} are described at once.`);
  return { tools: [...new Set(tools)], language: choiceOf(given, 'language', ['python', 'typescript']) ?? 'python' };
}

function argumentsOf(params: unknown, { properties }: Record<string, unknown>): Record<string, unknown> {
  const given = params ?? {};
  if (!isJsonObject(given)) throw wrong(`The arguments must be an object, found ${quote(given)}.`);
  const known = Object.keys(properties as object);
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    const meant = didYouMean(unknown, known);
    throw wrong(
      `There is no argument ${quote(unknown)}${meant === undefined ? '' : `; did you mean "${meant}"?`} There are ${known.join(', ')}.`,
    );
  }
  return given;
}

/** Null counts as left out, as many models send it. */
function textOf(given: Record<string, unknown>, key: string): string | undefined {
  const value = given[key] ?? undefined;
  if (value === undefined || typeof value === 'string') return value === '' ? undefined : value;
  throw wrong(`"${key}" must be a text, found ${quote(value)}.`);
}

function flagOf(given: Record<string, unknown>, key: string): boolean {
  const value = given[key] ?? false;
  if (typeof value === 'boolean') return value;
  throw wrong(`"${key}" must be true or false, found ${quote(value)}.`);
}

function numberOf(given: Record<string, unknown>, key: string, { least, most }: { least: number; most: number }): number | undefined {
  const value = given[key] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
  throw wrong(`"${key}" must be a whole number ${range}, found ${quote(value)}.`);
}

function choiceOf<Choice extends string>(given: Record<string, unknown>, key: string, choices: readonly Choice[]): Choice | undefined {
  const value = given[key] ?? undefined;
  const found = choices.find((choice) => choice === value);
  if (value === undefined || found !== undefined) return found;
  throw wrong(`"${key}" must be one of ${choices.map((choice) => `"${choice}"`).join(', ')}, found ${quote(value)}.`);
}

function wrong(message: string): BridgeError {
  return new BridgeError('invalid_arguments', message);
}
