import type { Logger } from '@notebridge/kit/logger';
import type { ToolPackages } from '../../code-mode/execution/code-kernel.js';
import type { Tool } from '../../core/mcp.js';
import { type Principal, principalKey } from '../../core/principal.js';
import type { ToolServers } from '../../core/tool-server.js';
import { KeptPackage } from '../code-tools/kept-package.js';

export interface PrincipalPackagesOptions {
  servers: ToolServers;
  /** Whether the principal may know of a tool; undefined: of a server whose tools are not known. */
  mayList: (principal: Principal, server: string, tool: Tool | undefined) => boolean;
  logger: Logger;
}

/** Packages that are kept up to date. Who comes back after so many others has one made anew. */
const mostPackages = 50;

const nothing = 'no tool can be called by this agent: no MCP servers are configured, or its grant allows none (search_tools lists them)';

/** For each principal the functions that its code may import: those of the tools that it may call. */
export class PrincipalPackages {
  readonly #options: PrincipalPackagesOptions;
  readonly #byKey = new Map<string, KeptPackage>();

  constructor(options: PrincipalPackagesOptions) {
    this.#options = options;
  }

  of(principal: Principal): ToolPackages {
    // The owner and anonymous callers see the same.
    const key = principal.kind === 'grant' ? principalKey(principal) : '';
    const own = this.#byKey.get(key) ?? this.#open(principal);
    this.#byKey.delete(key);
    this.#byKey.set(key, own);
    const [oldest] = this.#byKey;
    if (this.#byKey.size > mostPackages && oldest !== undefined) {
      this.#byKey.delete(oldest[0]);
      void oldest[1].close();
    }
    return own;
  }

  /** Closing twice is harmless. */
  async close(): Promise<void> {
    await Promise.all([...this.#byKey.values()].map((own) => own.close()));
  }

  #open(principal: Principal): KeptPackage {
    const { servers, mayList, logger } = this.#options;
    return new KeptPackage({
      ...{ servers, logger, nothing, what: 'code' },
      mayShow: (server, tool) => mayList(principal, server, tool),
      inputOf: async (gather) => {
        const input = await gather();
        return input.servers.length === 0 && !input.skills ? undefined : input;
      },
    });
  }
}
