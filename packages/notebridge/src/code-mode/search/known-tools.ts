import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';
import type { Tool } from '../../core/mcp.js';
import type { ToolServer, ToolServers } from '../../core/tool-server.js';
import { settlesWithin } from '../../util/settles-within.js';

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

interface Asked {
  listed: Promise<unknown>;
  at: number;
  failure: string | undefined;
}

/** The tools of all servers that code can reach. Servers that were never listed are asked, which may start them. */
export class KnownTools {
  readonly #options: KnownToolsOptions;
  readonly #asked = new WeakMap<ToolServer, Asked>();

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
        reason: tools === undefined ? this.#reasonOf(server) : undefined,
      };
    });
  }

  async #ask(server: ToolServer, signal: AbortSignal | undefined): Promise<void> {
    const { listMs, logger } = this.#options;
    const known = this.#asked.get(server);
    const isRecent = known !== undefined && performance.now() - known.at < retryMs;
    if (isRecent && known.failure !== undefined) return;
    // Not with the context of the call: what one caller cancels, the next ones wait for.
    const asked: Asked = isRecent ? known : { listed: server.listTools(), at: performance.now(), failure: undefined };
    if (!isRecent) {
      this.#asked.set(server, asked);
      asked.listed.catch((error: unknown) => {
        asked.failure = messageOf(error);
        logger.warn(`The tools of "${server.name}" are not found by searches: it did not list them.`, { error: asked.failure });
      });
    }
    await settlesWithin(asked.listed, Math.max(0, asked.at + listMs - performance.now()), signal);
  }

  #reasonOf(server: ToolServer): string {
    const asked = this.#asked.get(server);
    return (
      asked?.failure ??
      (asked === undefined
        ? 'it was not asked yet'
        : `it is still starting, after ${this.#options.listMs / 1000} s; search again in some seconds`)
    );
  }
}
