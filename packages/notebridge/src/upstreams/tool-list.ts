import { isJsonObject } from '@notebridge/kit/json';
import type { Logger } from '@notebridge/kit/logger';
import { type CacheHints, cacheHintsOf, mergeCacheHints } from '../core/cache-hints.js';
import { BridgeError } from '../core/errors.js';
import type { Tool } from '../core/mcp.js';
import { quote } from '../util/quote.js';
import type { UpstreamSession } from './upstream-session.js';

/** The tools of a server by name, in the order in which it lists them. */
export type ToolsByName = ReadonlyMap<string, Tool>;

/** A server that pages on for ever is left after so many. */
const maxPages = 1000;
/** A server whose whole list is broken must not fill the log. */
const maxFaultsLogged = 5;
/** How long one page may take. Milliseconds. */
const pageTimeoutMs = 30_000;

/** A list as it was fetched, and how long it holds from then on, as far as the server says so. */
export interface FetchedTools {
  tools: ToolsByName;
  cache: CacheHints | undefined;
}

export interface FetchToolsOptions {
  server: string;
  logger: Logger;
  /** Why a tool is left out, and whether that was not reported before; undefined: it is not. */
  leavesOut: (tool: Tool) => { fault: string; isNew: boolean } | undefined;
}

/** All tools of a server, page by page. Unknown keys are kept; of two tools of one name the first counts. Rejects as a request does. */
export async function fetchTools(
  session: Pick<UpstreamSession, 'can' | 'request'>,
  { server, logger, leavesOut }: FetchToolsOptions,
): Promise<FetchedTools> {
  const tools = new Map<string, Tool>();
  const hints: (CacheHints | undefined)[] = [];
  if (!session.can('tools')) return { tools, cache: undefined };
  let cursor: unknown;
  let faults = 0;
  const report = (fault: string): void => {
    if (++faults <= maxFaultsLogged) logger.warn(`A tool of "${server}" is left out: ${fault}`, { server, faults });
  };
  for (let page = 0; page < maxPages; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await session.request('tools/list', params, { timeoutMs: pageTimeoutMs });
    hints.push(cacheHintsOf(answer));
    if (!Array.isArray(answer.tools)) throw new BridgeError('bad_message', `"tools" must be a list, found ${quote(answer.tools)}.`);
    for (const item of answer.tools) {
      const fault = addTool(tools, item);
      if (fault !== undefined) report(fault);
    }
    const last = cursor;
    cursor = answer.nextCursor ?? undefined;
    if (cursor === undefined || cursor === last) break;
    if (page === maxPages - 1) logger.warn(`"${server}" lists its tools on more than ${maxPages} pages; the rest is left out.`, { server });
  }
  for (const [name, tool] of tools) {
    const out = leavesOut(tool);
    if (out === undefined) continue;
    tools.delete(name);
    if (out.isNew) report(`${quote(name)}: ${out.fault}`);
  }
  return { tools, cache: mergeCacheHints(hints) };
}

/** Returns why the tool could not be added. */
function addTool(tools: Map<string, Tool>, item: unknown): string | undefined {
  if (!isJsonObject(item) || typeof item.name !== 'string' || item.name === '') return `it has no name: ${quote(item)}`;
  if (tools.has(item.name)) return `there is another one named ${quote(item.name)} before it.`;
  tools.set(item.name, (isJsonObject(item.inputSchema) ? item : { ...item, inputSchema: { type: 'object' } }) as Tool);
  return undefined;
}
