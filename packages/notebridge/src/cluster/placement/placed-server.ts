import type { JsonObject } from '@notebridge/kit/json';
import type { Logger } from '@notebridge/kit/logger';
import type { CacheHints } from '../../core/cache-hints.js';
import type { CallContext } from '../../core/call-context.js';
import type { Tool } from '../../core/mcp.js';
import type { Era } from '../../core/protocol-versions.js';
import type { ProviderEvent } from '../../core/provider.js';
import type { Exposure, NameStyle, Placement, ServerState, ServerStatus, ToolServer, ToolServerEvent } from '../../core/tool-server.js';
import type { Runtime } from '../../util/runtime.js';
import type { Claims, HubCalls, Membership } from '../cluster-parts.js';

/** What servers of a cluster are placed by. */
export interface PlacingParts {
  calls: HubCalls;
  claims: Claims;
  membership: Membership;
  runtime: Runtime;
  logger: Logger;
}

export interface PlacedServerOptions extends PlacingParts {
  /** The server as this hub has it: it runs nothing unless it is called. */
  local: ToolServer;
  onEvent: (event: ToolServerEvent) => void;
}

/** A server whose calls may be answered by another hub. All that the config says of it is the same everywhere. */
export abstract class PlacedServer implements ToolServer {
  readonly isConfig = true;
  protected readonly local: ToolServer;

  constructor({ local }: PlacedServerOptions) {
    this.local = local;
  }

  get name(): string {
    return this.local.name;
  }

  get description(): string | undefined {
    return this.local.description;
  }

  get instructions(): string | undefined {
    return this.local.instructions;
  }

  get expose(): Exposure {
    return this.local.expose;
  }

  get names(): NameStyle | undefined {
    return this.local.names;
  }

  get placement(): Placement | undefined {
    return this.local.placement;
  }

  get isPerAgent(): boolean {
    return this.local.isPerAgent === true;
  }

  get isLazy(): boolean {
    return this.local.isLazy === true;
  }

  get status(): ServerStatus {
    return this.state.status;
  }

  get state(): ServerState {
    return this.local.state;
  }

  get knownTools(): readonly Tool[] | undefined {
    return this.local.knownTools;
  }

  get toolsCache(): CacheHints | undefined {
    return this.local.toolsCache;
  }

  get tasksEra(): Era | undefined {
    return this.local.tasksEra;
  }

  listTools(context?: CallContext): Promise<readonly Tool[]> {
    return this.local.listTools(context);
  }

  abstract request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject>;

  notify(method: string, params: JsonObject | undefined, context?: CallContext): void {
    this.local.notify(method, params, context);
  }

  /** What this hub's own one says; that of others comes by `onEvent`. */
  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.local.subscribe(listener);
  }

  watchTask(taskId: string, context: CallContext): () => void {
    return this.local.watchTask?.(taskId, context) ?? (() => {});
  }

  async start(): Promise<void> {
    await this.local.start?.();
  }

  async stop(why: string): Promise<void> {
    await this.local.stop?.(why);
  }

  /** An event of the server of this hub. True if it is everybody's here. */
  abstract fromLocal(event: ToolServerEvent): boolean;

  /** Hubs came or went, or this hub's own lease did. */
  membershipChanged(): void {}

  /** An agent of this hub has gone: what is held for it alone, at whichever hub, can go. Never rejects. */
  abstract endSession(sessionId: string): Promise<void>;

  /** Hands over what others can have; `next` is what this hub has in its place, if it goes on. Never rejects. Closing twice is harmless. */
  abstract close(next?: ToolServer): Promise<void>;
}
