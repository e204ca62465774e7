import { keepLatest } from '@notebridge/kit/keep-latest';
import type { Logger } from '@notebridge/kit/logger';
import type { ToolPackages } from '../../code-mode/execution/code-kernel.js';
import type { Tool } from '../../core/mcp.js';
import { type Principal, principalKey } from '../../core/principal.js';
import type { ToolServers } from '../../core/tool-server.js';
import { KeptPackage } from '../code-tools/kept-package.js';

/** Packages that are kept up to date. Who comes back after so many others has one made anew. */
const mostPackages = 50;

const nothing = 'no tool can be called by this agent: no MCP servers are configured, or its grant allows none (search_tools lists them)';

/**
 * For each principal the functions that its code may import: those of the tools that it may call. `mayList`: whether it may know of a tool;
 * undefined: of a server whose tools are not known.
 */
export function keepPackages({
  servers,
  mayList,
  logger,
}: {
  servers: ToolServers;
  mayList: (principal: Principal, server: string, tool: Tool | undefined) => boolean;
  logger: Logger;
}) {
  const byKey = new Map<string, KeptPackage>();
  const open = (principal: Principal): KeptPackage =>
    new KeptPackage({
      ...{ servers, logger, nothing, what: 'code' },
      mayShow: (server, tool) => mayList(principal, server, tool),
      inputOf: async (gather) => {
        const input = await gather();
        return input.servers.length === 0 && !input.skills ? undefined : input;
      },
    });
  return {
    of: (principal: Principal): ToolPackages => {
      // The owner and anonymous callers see the same.
      const key = principal.kind === 'grant' ? principalKey(principal) : '';
      const own = byKey.get(key) ?? open(principal);
      const [oldest] = byKey;
      keepLatest(byKey, [key, own], mostPackages);
      if (oldest !== undefined && !byKey.has(oldest[0])) void oldest[1].close();
      return own;
    },
    /** Closing twice is harmless. */
    close: async (): Promise<void> => {
      await Promise.all([...byKey.values()].map((own) => own.close()));
    },
  };
}
