import type { BindingsInput, BoundServer } from '@notebridge/bindings';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Tool } from '@notebridge/protocol/core/mcp';
import type { ToolServer, ToolServers } from '@notebridge/protocol/core/tool-server';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';

export interface GatherOptions {
  hubUrl: string | undefined;
  /** How long a server may take that never listed its tools, from its start or since anybody asked first. Milliseconds. */
  timeoutMs: number;
  /** Ends the waiting; what has not answered by then is left out. */
  signal?: AbortSignal | undefined;
  /** Whether the bindings may show a tool; undefined for the tool: one of a server whose tools are not known. Default: all. */
  mayShow?: ((server: string, tool: Tool | undefined) => boolean) | undefined;
}

export interface GatheredInput {
  input: BindingsInput;
  /** Which servers are left out, and why. One line each, sorted. */
  warnings: string[];
  /** Servers that were asked in vain. */
  failed: number;
}

/**
 * What bindings are made from: all servers that code may reach. A server is asked for its tools, and started for it, only if they were
 * never listed; of one that is down just now the last known tools stay. Never rejects: a server that fails is left out with a warning.
 */
export async function gatherInput(servers: ToolServers, options: GatherOptions): Promise<GatheredInput> {
  const reachable = servers.all().filter(isReachable);
  const looks = await Promise.all(reachable.map((server) => look(server, options)));
  const warnings = looks.filter((found) => typeof found === 'string');
  const found = looks.filter((each) => typeof each === 'object');
  const bound = found.filter(({ ofSkills }) => !ofSkills).map(({ server }) => server);
  return {
    input: { servers: bound.sort(byName), skills: found.some(({ ofSkills }) => ofSkills), hubUrl: options.hubUrl },
    warnings: warnings.sort(),
    failed: warnings.length,
  };
}

/** Whether code can reach a server at all. */
export function isReachable({ expose, status }: ToolServer): boolean {
  return expose !== 'none' && status !== 'disabled';
}

/** True for the pseudo-server whose tools become functions of their own. */
export function isSkills({ name, isConfig }: ToolServer): boolean {
  return !isConfig && name === 'skills';
}

interface Found {
  server: BoundServer;
  ofSkills: boolean;
}

/** The server with its tools, a warning, or nothing if it is not to be seen. */
async function look(server: ToolServer, { timeoutMs, signal, mayShow = () => true }: GatherOptions): Promise<Found | string | undefined> {
  const { name, description } = server;
  if (server.knownTools === undefined && !mayShow(name, undefined)) return undefined;
  try {
    const listed = await askForTools(server, { waitMs: timeoutMs, signal });
    if (listed === 'waiting') throw new BridgeError('timeout', `it did not list its tools within ${timeoutMs / 1000} s.`);
    if ('failure' in listed) throw listed.failure;
    const all = listed.tools;
    const tools = all.filter((tool) => mayShow(name, tool));
    if (tools.length === 0 && all.length > 0) return undefined;
    const unique = new Map([...tools].reverse().map((tool) => [tool.name, tool]));
    return { server: { name, description, tools: [...unique.values()].sort(byName) }, ofSkills: isSkills(server) };
  } catch (error) {
    return `The server "${name}" is left out: ${messageOf(error)}`;
  }
}

/** By code units: the same order on every machine. */
export function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}

export interface AskForToolsOptions {
  /** How long it is waited for, from when it was first asked by anybody, or began to start. Milliseconds. */
  waitMs: number;
  /** One that has failed is not asked again so soon. Milliseconds. Default 0: it is. */
  retryMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** The tools of a server; why it did not list them; or that it may yet. */
export type ToolsAsked = { tools: readonly Tool[] } | { failure: unknown } | 'waiting';

interface Asked {
  /** When the waiting for it began. It stays: a server that starts again and again is waited for once. */
  readonly since: number;
  listed: Promise<readonly Tool[]>;
  outcome: { tools: readonly Tool[] } | { failure: unknown; at: number } | undefined;
}

const asked = new WeakMap<ToolServer, Asked>();

/**
 * Asks a server whose tools were never listed, which may start it. All who ask wait together: one that is slow or hangs delays them once,
 * and after that nobody. Never rejects.
 */
export async function askForTools(server: ToolServer, { waitMs, retryMs = 0, signal }: AskForToolsOptions): Promise<ToolsAsked> {
  if (server.knownTools !== undefined) return { tools: server.knownTools };
  const of = ask(server, retryMs);
  // Not with the context of a call: what one caller cancels, the next ones wait for.
  const leftMs = of.since + waitMs - performance.now();
  if (of.outcome === undefined && leftMs > 0) await settlesWithin(of.listed, leftMs, signal);
  return of.outcome ?? 'waiting';
}

function ask(server: ToolServer, retryMs: number): Asked {
  const known = asked.get(server);
  const ended = known?.outcome;
  const isRecent = ended === undefined || ('at' in ended && performance.now() - ended.at < retryMs);
  if (known !== undefined && isRecent) return known;
  const { status, since } = server.state;
  const startedMs = status === 'starting' ? Math.max(0, Date.now() - since) : 0;
  const listed = server.listTools();
  const now: Asked = { since: known?.since ?? performance.now() - startedMs, listed, outcome: undefined };
  asked.set(server, now);
  listed.then(
    (tools) => {
      now.outcome = { tools };
    },
    (failure: unknown) => {
      now.outcome = { failure, at: performance.now() };
    },
  );
  return now;
}
