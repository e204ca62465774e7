import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';
import { askForTools, byName, isReachable, isSkills } from '../../bindings/input.js';
import type { Tool } from '../../core/mcp.js';
import type { ToolServer, ToolServers } from '../../core/tool-server.js';
import type { MayList } from '../../grants/may-list.js';

/** A server that code can reach. */
export interface SearchedServer {
  name: string;
  description: string | undefined;
  /** True for the pseudo-server of the skills: code imports its functions from another place. */
  isSkills: boolean;
  /** Its tools as last listed. Undefined: not known. */
  list: readonly Tool[] | undefined;
  /** Why they are not known, for people. */
  reason: string | undefined;
}

/** The same as one principal sees it. */
export interface SeenServer extends SearchedServer {
  /** Sorted by name, each name once; none if they are not known. */
  tools: readonly Tool[];
}

/** A server that did not answer is not waited for again so soon. Milliseconds. */
const retryMs = 30_000;

/** The tools of all servers that code can reach. Servers that were never listed are asked, which may start them. */
export class KnownTools {
  readonly #options: { servers: ToolServers; logger: Logger; listMs: number };
  readonly #failures = new WeakMap<ToolServer, string>();

  /** `listMs`: how long a search waits for servers that were never listed. */
  constructor(options: { servers: ToolServers; logger: Logger; listMs: number }) {
    this.#options = options;
  }

  /** @param mayAsk Whether a server whose tools are not known is asked on behalf of the caller. */
  async learn(mayAsk: (server: string) => boolean, signal?: AbortSignal): Promise<SearchedServer[]> {
    const reachable = this.#options.servers.all().filter(isReachable);
    const unknown = reachable.filter(({ name, knownTools }) => knownTools === undefined && mayAsk(name));
    await Promise.all(unknown.map((server) => this.#ask(server, signal)));
    return reachable.map((server) => {
      const { name, description, knownTools: list } = server;
      const reason = list === undefined ? this.#reasonOf(server, unknown.includes(server)) : undefined;
      return { name, description, isSkills: isSkills(server), list, reason };
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

/** The servers that have something for this principal, sorted by name. */
export function seenServers(servers: readonly SearchedServer[], mayList: MayList): SeenServer[] {
  return servers.flatMap((server) => see(server, mayList)).sort(byName);
}

function see(server: SearchedServer, mayList: MayList): SeenServer[] {
  const { name, list } = server;
  const tools = list === undefined ? [] : seenTools(list, (tool) => mayList(name, tool));
  const isSeen = tools.length > 0 || ((list === undefined || list.length === 0) && mayList(name, undefined));
  return isSeen ? [{ ...server, tools }] : [];
}

/** Of those with one name the one that was listed first, among those that may be seen. Of a list that is seen whole it is the same array each time. */
function seenTools(list: readonly Tool[], mayList: (tool: Tool) => boolean): readonly Tool[] {
  const all = sorted.get(list) ?? [...list].sort(byName);
  sorted.set(list, all);
  const seen: Tool[] = [];
  for (const tool of all) if (tool.name !== seen.at(-1)?.name && mayList(tool)) seen.push(tool);
  return seen.length === all.length ? all : seen;
}

const sorted = new WeakMap<readonly Tool[], readonly Tool[]>();
