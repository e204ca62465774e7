import type { MayList } from '@notebridge/protocol/core/may-list';
import type { Tool } from '@notebridge/protocol/core/mcp';
import type { ToolServer, ToolServers } from '@notebridge/protocol/core/tool-server';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { askForTools, byName, isReachable, isSkills } from '../bindings/input.js';

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

export interface LearnOptions {
  servers: ToolServers;
  logger?: Logger | undefined;
  /** How long one search waits for servers that were never listed, milliseconds. Default 5,000. What is not there by then is named. */
  listMs?: number | undefined;
}

/** Why servers did not list their tools when they were asked last. */
const failures = new WeakMap<ToolServer, string>();

/**
 * Learns the tools of all servers that code can reach. Those that were never listed are asked, which may start them; `mayAsk`: whether one is,
 * on behalf of the caller.
 */
export async function learnTools(
  { servers, logger = silentLogger, listMs = 5000 }: LearnOptions,
  mayAsk: (server: string) => boolean,
  signal: AbortSignal,
): Promise<SearchedServer[]> {
  const ask = async (server: ToolServer): Promise<void> => {
    const listed = await askForTools(server, { waitMs: listMs, retryMs, signal });
    if (listed === 'waiting' || 'tools' in listed) return void failures.delete(server);
    const failure = messageOf(listed.failure);
    if (failures.get(server) !== failure)
      logger.warn(`The tools of "${server.name}" are not found by searches: it did not list them.`, { error: failure });
    failures.set(server, failure);
  };
  const late = `it is still starting, after ${listMs / 1000} s; search again in some seconds`;
  const reachable = servers.all().filter(isReachable);
  const unknown = reachable.filter(({ name, knownTools }) => knownTools === undefined && mayAsk(name));
  await Promise.all(unknown.map(ask));
  return reachable.map((server) => {
    const { name, description, knownTools: list } = server;
    const reason = unknown.includes(server) ? (failures.get(server) ?? late) : 'it was not asked yet';
    return { name, description, isSkills: isSkills(server), list, reason: list === undefined ? reason : undefined };
  });
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
