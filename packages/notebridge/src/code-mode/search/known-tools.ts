import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';
import { askForTools } from '../../bindings/ask-for-tools.js';
import type { Tool } from '../../core/mcp.js';
import type { ToolServer, ToolServers } from '../../core/tool-server.js';

/** A server that code can reach, with its tools as last listed. */
export interface SearchedServer {
  name: string;
  description: string | undefined;
  /** True for the pseudo-server of the skills: code imports its functions from another place. */
  isSkills: boolean;
  /** Undefined: not known. */
  tools: readonly Tool[] | undefined;
  /** Why they are not known, for people. */
  reason: string | undefined;
}

export interface KnownToolsOptions {
  servers: ToolServers;
  logger: Logger;
  /** How long a search waits for servers that were never listed, milliseconds. */
  listMs: number;
}

/** A server that did not answer is not waited for again so soon. Milliseconds. */
const retryMs = 30_000;

/** As in the bindings: the one built-in server with functions of its own. */
const skillsServer = 'skills';

/** The tools of all servers that code can reach. Servers that were never listed are asked, which may start them. */
export class KnownTools {
  readonly #options: KnownToolsOptions;
  readonly #failures = new WeakMap<ToolServer, string>();

  constructor(options: KnownToolsOptions) {
    this.#options = options;
  }

  /** @param mayAsk Whether a server whose tools are not known is asked on behalf of the caller. */
  async learn(mayAsk: (server: string) => boolean, signal?: AbortSignal): Promise<SearchedServer[]> {
    const reachable = this.#options.servers.all().filter(({ expose, status }) => expose !== 'none' && status !== 'disabled');
    const unknown = reachable.filter(({ name, knownTools }) => knownTools === undefined && mayAsk(name));
    await Promise.all(unknown.map((server) => this.#ask(server, signal)));
    return reachable.map((server) => {
      const { name, description, isConfig, knownTools: tools } = server;
      return {
        name,
        description,
        isSkills: !isConfig && name === skillsServer,
        tools,
        reason: tools === undefined ? this.#reasonOf(server, unknown.includes(server)) : undefined,
      };
    });
  }

  async #ask(server: ToolServer, signal: AbortSignal | undefined): Promise<void> {
    const { listMs, logger } = this.#options;
    const listed = await askForTools(server, { waitMs: listMs, retryMs, signal });
    if (listed === 'waiting' || 'tools' in listed) return void this.#failures.delete(server);
    const failure = messageOf(listed.failure);
    if (this.#failures.get(server) !== failure)
      logger.warn(`The tools of "${server.name}" are not found by searches: it did not list them.`, { error: failure });
    this.#failures.set(server, failure);
  }

  #reasonOf(server: ToolServer, wasAsked: boolean): string {
    if (!wasAsked) return 'it was not asked yet';
    return this.#failures.get(server) ?? `it is still starting, after ${this.#options.listMs / 1000} s; search again in some seconds`;
  }
}
