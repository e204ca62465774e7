import type { JsonObject } from '@notebridge/kit/json';
import type { Logger } from '@notebridge/kit/logger';
import type { ToolSearch } from '../../code-mode/search/tool-search.js';
import type { ToolResult } from '../../core/mcp.js';
import type { Principal } from '../../core/principal.js';
import type { ToolAddress } from '../../core/tool-address.js';
import type { ToolServers } from '../../core/tool-server.js';
import type { ListerOf } from '../../grants/may-list.js';

/** The address of the search, in place of a server's tool: no server has this name. */
export const searchAddress: ToolAddress = { server: '', tool: 'search' };

/** Answers as `search_tools` does, with the tools that the principal may call. It costs a grant nothing, as a list. */
export type SearchTools = (params: JsonObject, who: { principal: Principal; signal: AbortSignal }) => Promise<ToolResult>;

export interface SearchToolsOptions {
  servers: ToolServers;
  listerOf: ListerOf;
  logger: Logger;
}

/** The search that agents have in code mode, for code. Nothing is loaded before the first one. */
export function createSearchTools(options: SearchToolsOptions): SearchTools {
  let opening: Promise<ToolSearch> | undefined;
  const open = async (): Promise<ToolSearch> => {
    const { ToolSearch: Search } = await import('../../code-mode/search/tool-search.js');
    return new Search(options);
  };
  return async (params, { principal, signal }) => {
    opening ??= open();
    return (await opening).search(params, { caller: { principal }, signal });
  };
}
