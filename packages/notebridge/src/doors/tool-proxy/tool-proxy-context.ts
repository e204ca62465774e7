import { randomBytes } from 'node:crypto';
import type { ToolSearch } from '@notebridge/code-mode/search/tool-search';
import { withSkillsCaller } from '@notebridge/code-mode/skills/proxy-caller';
import type { Caller } from '@notebridge/protocol/core/call-context';
import type { ListerOf } from '@notebridge/protocol/core/may-list';
import type { Tool, ToolResult } from '@notebridge/protocol/core/mcp';
import type { MiddlewareContext } from '@notebridge/protocol/core/middleware';
import { type Principal, principalKey } from '@notebridge/protocol/core/principal';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import type { ToolServers } from '@notebridge/protocol/core/tool-server';
import type { WhileLive } from '@notebridge/protocol/core/while-live';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';
import { ToolNames } from '../../catalog/tool-names.js';
import type { WatchedPlace } from '../hub-place.js';
import { type AnswerStore, StoredAnswers } from './stored-answers.js';

/** Bounds of the tool proxy. */
const defaultLimits = {
  /** The largest answer, bytes of JSON. Default 64 MiB. Past it: `result_too_large`. */
  maxResultBytes: 64 * 1024 * 1024,
  /** Calls of this door under way at once; one more is answered with 503. Default 1024. */
  maxInFlight: 1024,
  /** Interval of heartbeats on a stream, milliseconds. Default 15 s. */
  heartbeatMs: 15_000,
  /** How long `/readyz` waits for the servers that are started with the hub. Default 10 s. */
  serversReadyMs: 10_000,
  /** Answers kept for repeated `Idempotency-Key`s: how many (default 1000), how large together (bytes, default 64 MiB), how long (ms, default 10 min). */
  storedAnswers: 1000,
  storedBytes: 64 * 1024 * 1024,
  storedMs: 10 * 60_000,
};

export type ToolProxyLimits = typeof defaultLimits;

/** The part of a hub that the proxy needs. */
export interface ToolProxyHub {
  request(context: MiddlewareContext, terminal: (context: MiddlewareContext) => Promise<JsonObject>): Promise<JsonObject>;
  readonly logger: Logger;
  /** When what waits for a principal has to end. */
  readonly whileLive: WhileLive;
}

export interface ToolProxyOptions {
  hub: ToolProxyHub;
  servers: ToolServers;
  /** Whether a list may show a tool to the principal. Default: yes. Calls are judged by the hub, not by this. */
  mayList?: ((principal: Principal, address: ToolAddress, tool: Tool) => boolean) | undefined;
  /** Whether a list may show a server whose tools are not known yet. Default: yes. */
  mayListWhole?: ((principal: Principal, server: string) => boolean) | undefined;
  /** Both at once: the rights of a principal are looked up once for many tools in a row. Default: by asking those. */
  listerOf?: ListerOf | undefined;
  limits?: Partial<ToolProxyLimits> | undefined;
  /** Where answers are kept for repeated `Idempotency-Key`s. Default: in this process, within the limits. */
  answers?: AnswerStore | undefined;
  /** True once the hub takes no more. Default: never. */
  isDraining?: (() => boolean) | undefined;
  /** The place of this hub in its cluster. Default: it is alone. */
  cluster?: WatchedPlace | undefined;
  /** Milliseconds since some fixed moment. Default `performance.now`. */
  clock?: (() => number) | undefined;
}

/** What the functions of the proxy share, with or without HTTP. */
export interface ToolProxy {
  readonly hub: ToolProxyHub;
  readonly servers: ToolServers;
  readonly limits: Readonly<ToolProxyLimits>;
  readonly answers: AnswerStore;
  /** What lists may show a principal. Calls are judged by the hub, not by this. */
  readonly listerOf: ListerOf;
  readonly search: SearchTools;
  isDraining(): boolean;
  readonly cluster: WatchedPlace | undefined;
  /** The start of the hub, for its readiness. `beganMs` is by `now`. */
  readonly boot: { isOver: boolean; readonly beganMs: number };
  now(): number;
  /** A new id of a call, for the log and the caller. */
  nextCallId(): string;
  /** What middlewares see as the name of a tool: the one that agents call it by. */
  readonly names: ToolNames;
  /** Hands a call that came through the chain to the server that it is aimed at. */
  readonly terminal: (context: MiddlewareContext) => Promise<JsonObject>;
  /** Who calls, by principal: one session for each grant, so that a server with instances per agent has one for each kernel. */
  callerOf(principal: Principal): Caller;
}

/** Makes what `proxyToolCall`, `listProxyServers` and `proxyHealth` work on. */
export function createProxyContext(
  options: ToolProxyOptions,
  terminalOf: (servers: ToolServers, names: ToolNames) => ToolProxy['terminal'],
): ToolProxy {
  const prefix = randomBytes(6).toString('hex');
  const servers = withSkillsCaller(options.servers);
  const names = new ToolNames(servers);
  const limits = { ...defaultLimits, ...options.limits };
  const now = options.clock ?? (() => performance.now());
  const { mayList = () => true, mayListWhole = () => true } = options;
  const listOneByOne: ListerOf = (principal) => (server, tool) =>
    tool === undefined ? mayListWhole(principal, server) : mayList(principal, { server, tool: tool.name }, tool);
  const { listerOf = listOneByOne } = options;
  let calls = 0;
  return {
    hub: options.hub,
    servers,
    limits,
    answers: options.answers ?? toStoredAnswers(limits, now),
    listerOf,
    search: createSearchTools({ servers, listerOf, logger: options.hub.logger }),
    now,
    isDraining: options.isDraining ?? (() => false),
    cluster: options.cluster,
    boot: { isOver: false, beganMs: now() },
    nextCallId: () => `${prefix}-${++calls}`,
    names,
    terminal: terminalOf(servers, names),
    callerOf: createCallers(prefix),
  };
}

function toStoredAnswers({ storedAnswers, storedBytes, storedMs }: ToolProxyLimits, now: () => number): StoredAnswers {
  return new StoredAnswers({ maxAnswers: storedAnswers, maxBytes: storedBytes, keepMs: storedMs, now });
}

const maxCallers = 1000;

/** The same caller for the same principal: a call need not make one. */
function createCallers(prefix: string): ToolProxy['callerOf'] {
  const callers = new Map<string, Caller>();
  return (principal) => {
    const key = principalKey(principal);
    let caller = callers.get(key);
    if (caller === undefined) {
      caller = { sessionId: `${prefix}:${key}`, door: 'tool-proxy', era: 'legacy', clientInfo: undefined, principal };
      // Grants come and go.
      if (callers.size >= maxCallers) callers.clear();
      callers.set(key, caller);
    }
    return caller;
  };
}

/** The server of a name, if code may reach it at all. */
export function findServer(servers: ToolServers, name: string): ReturnType<ToolServers['get']> {
  const server = servers.get(name);
  return server === undefined || server.expose === 'none' || server.status === 'disabled' ? undefined : server;
}

/** The address of the search, in place of a server's tool: no server has this name. */
export const searchAddress: ToolAddress = { server: '', tool: 'search' };

/** Answers as `search_tools` does, with the tools that the principal may call. It costs a grant nothing, as a list. */
export type SearchTools = (params: JsonObject, who: { principal: Principal; signal: AbortSignal }) => Promise<ToolResult>;

interface SearchToolsOptions {
  servers: ToolServers;
  listerOf: ListerOf;
  logger: Logger;
}

/** The search that agents have in code mode, for code. Nothing is loaded before the first one. */
function createSearchTools(options: SearchToolsOptions): SearchTools {
  let opening: Promise<ToolSearch> | undefined;
  const open = async (): Promise<ToolSearch> => {
    const { ToolSearch: Search } = await import('@notebridge/code-mode/search/tool-search');
    return new Search(options);
  };
  return async (params, { principal, signal }) => {
    opening ??= open();
    return (await opening).search(params, { caller: { principal }, signal });
  };
}
