import type { JsonObject } from '../json.js';
import type { CacheHints } from './cache-hints.js';
import type { CallContext } from './call-context.js';
import type { Tool } from './mcp.js';
import type { Era } from './protocol-versions.js';
import type { Provider, ProviderEvent } from './provider.js';

/** An entry of a list that no client is shown. */
export interface LeftOutEntry {
  /** `tool "set"`. */
  what: string;
  name: unknown;
  why: string;
}

/**
 * `stopped`: not asked for yet, or idle. `starting`: until its first `initialize` is answered. `restarting`: it ended by itself and
 * is started again after a pause. `failed`: given up; the next call, or an edit of the config, tries again.
 */
export type ServerStatus = 'stopped' | 'starting' | 'running' | 'restarting' | 'failed' | 'disabled';

/** The status of a server, for people and `notebridge servers`. */
export interface ServerState {
  status: ServerStatus;
  /** When it came into this state, milliseconds since the epoch. */
  since: number;
  /** Why it failed or is restarted, with the last lines of its stderr; secrets taken out. */
  reason?: string;
  /** The process that was started; none for a server that is called by HTTP. */
  pid?: number;
  /** Starts after the first one. */
  restarts: number;
  /** It has been starting for longer than it has taken before, and than ten seconds. Left out: it has not. */
  isLate?: boolean;
  /** Calls that run just now. */
  inFlight: number;
  /** What it said of itself in `initialize`. */
  serverInfo?: JsonObject;
  protocolVersion?: string;
}

/** How the tools of a server reach an agent: each by itself, only from code, or not at all. Code in kernels reaches all but none. */
export type Exposure = 'direct' | 'code' | 'none';

/**
 * Where a server of the config runs in a cluster. `each`: every hub has one of its own, and calls it. `one`: the cluster has one,
 * taken over when its hub ends. Without a cluster they are the same.
 */
export type Placement = 'each' | 'one';

/** What agents call the tools and prompts of a server: `server__name`, or `name` as the server has it. */
export type NameStyle = 'prefixed' | 'plain';

/** One named server whose tools can be called: an upstream of the config, or the skills. Tools keep their own names here. */
export interface ToolServer extends Provider {
  readonly name: string;
  readonly description: string | undefined;
  /** True for a server of the config, false for one that is built in. */
  readonly isConfig: boolean;
  readonly expose: Exposure;
  /** Default `prefixed`. At most one server whose tools agents see has plain names. */
  readonly names?: NameStyle | undefined;
  readonly state: ServerState;
  /** That of `state`, by itself: it is asked for with every call. */
  readonly status: ServerStatus;
  /** Its tools as last listed, without starting anything; undefined if they were never asked for. */
  readonly knownTools: readonly Tool[] | undefined;
  /** How long those still hold, as the server said; undefined if that is unknown. */
  readonly toolsCache?: CacheHints | undefined;
  /** Set if it runs, and its calls may be tasks: of 2025-11-25, or of the extension of 2026-07-28. Left out: they may not. */
  readonly tasksEra?: Era | undefined;
  /** Has it tell of a task of the modern era, by its own id, until the returned function is called. Left out: it has none. */
  watchTask?(taskId: string, context: CallContext): () => void;
  /** Default `each`. */
  readonly placement?: Placement | undefined;
  /** True if it is started by its first call alone. Default false. */
  readonly isLazy?: boolean;
  /** True if each agent's session has a program of its own: what one of them knows, no other does. Default false. */
  readonly isPerAgent?: boolean;
  /** Its tools, all pages of the list, as far as the config allows them. Starts the server if need be. Rejects with `upstream_unavailable`. */
  listTools(context?: CallContext): Promise<readonly Tool[]>;
  /** Reads all that it lists, and says what of it no client is shown, and why. Starts it if need be. Left out: nothing can be. */
  findLeftOut?(): Promise<readonly LeftOutEntry[]>;
  /** Its tools that have failed in a call since they can ask by requests alone, which it cannot send as it is configured. Left out: none. */
  readonly pushingTools?: readonly string[];
  /** Starts it, unless it runs. Resolves when it runs or is given up. Never rejects. Left out: it has no program of its own. */
  start?(): Promise<void>;
  /** Ends it, with the calls under way; the next call starts it again. Left out: it has no program of its own. */
  stop?(why: string): Promise<void>;
}

/** Something changed of one of the servers, or a server sent a notification. */
export type ToolServerEvent =
  | { server: string; kind: 'added' | 'removed' | 'state' | 'tools' }
  | { server: string; kind: 'notification'; notification: ProviderEvent };

/** Calls when there may be other tools: of a server, or by a server that came or went. Returns the unsubscribe function. */
export function onToolsChanged(servers: ToolServers, listener: () => void): () => void {
  return servers.subscribe(({ kind }) => {
    if (kind === 'tools' || kind === 'added' || kind === 'removed') listener();
  });
}

/** All servers by name. The set changes when the config does. */
export interface ToolServers {
  all(): readonly ToolServer[];
  get(name: string): ToolServer | undefined;
  /** Tools of the notebook: a server with plain names leaves it these. Another set when they are others. Default: none. */
  readonly takenNames?: ReadonlySet<string> | undefined;
  /** Another number once there may be other servers, or more or less is known of one. Left out: nobody counts, so each is looked at each time. */
  readonly revision?: number | undefined;
  /** Listens from now on. Returns the unsubscribe function. */
  subscribe(listener: (event: ToolServerEvent) => void): () => void;
}
