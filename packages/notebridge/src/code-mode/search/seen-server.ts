import type { Tool } from '../../core/mcp.js';
import type { MayList } from '../../grants/may-list.js';
import type { SearchedServer } from './known-tools.js';

/** A server as one principal sees it. */
export interface SeenServer {
  name: string;
  description: string | undefined;
  isSkills: boolean;
  /** Sorted by name, each name once; none if they are not known. */
  tools: readonly Tool[];
  /** All of them, as they were listed; undefined if they are not known. */
  list: readonly Tool[] | undefined;
  /** Why its tools are not known. */
  reason: string | undefined;
}

/** The servers that have something for this principal, sorted by name. */
export function seenServers(servers: readonly SearchedServer[], mayList: MayList): SeenServer[] {
  return servers.flatMap((server) => see(server, mayList)).sort(byName);
}

function see({ name, description, isSkills, tools: list, reason }: SearchedServer, mayList: MayList): SeenServer[] {
  const tools = list === undefined ? [] : seenTools(list, (tool) => mayList(name, tool));
  const isSeen = tools.length > 0 || ((list === undefined || list.length === 0) && mayList(name, undefined));
  return isSeen ? [{ name, description, isSkills, tools, list, reason }] : [];
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

/** By code units: the same order on every machine. */
function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}
