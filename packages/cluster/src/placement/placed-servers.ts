import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Provider } from '@notebridge/protocol/core/provider';
import type { ToolServer, ToolServerEvent, ToolServers } from '@notebridge/protocol/core/tool-server';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { NotStarted, type ServedCall, toKeyPart } from '../cluster-parts.js';
import { sendEvents } from '../remote-events.js';
import { OneServer, type PlacingParts } from './one-server.js';
import { endSessionMethod, eventsMethod, ofServers, startMethod, stopMethod, watchTaskMethod } from './server-resources.js';

export interface PlacedServersOptions extends PlacingParts {
  /** The servers of this hub. */
  servers: ToolServers & { endSession(sessionId: string): Promise<void> };
}

/** The servers of the config as the cluster has them: each runs where its `placement` says, and is called as if it ran here. */
export class PlacedServers implements ToolServers {
  readonly #options: PlacedServersOptions;
  readonly #events = new Listeners<ToolServerEvent>();
  /** By the server of this hub. */
  readonly #placed = new Map<ToolServer, OneServer>();
  readonly #closers: (() => void)[];
  /** Sessions of other hubs' agents that have something of their own here. */
  readonly #guests = new Map<string, Set<string>>();

  constructor(options: PlacedServersOptions) {
    const { servers, calls, membership } = options;
    this.#options = options;
    this.#closers = [
      servers.subscribe((event) => this.#fromLocal(event)),
      calls.serve(ofServers, (call) => this.#answer(call)),
      membership.subscribe(() => this.#membershipChanged()),
    ];
    // A claim that nobody has is taken when its server is looked at.
    this.all();
  }

  all(): readonly ToolServer[] {
    return this.#options.servers.all().map((server) => this.#placedOf(server) ?? server);
  }

  get(name: string): ToolServer | undefined {
    const server = this.#options.servers.get(name);
    return server === undefined ? undefined : (this.#placedOf(server) ?? server);
  }

  subscribe(listener: (event: ToolServerEvent) => void): () => void {
    return this.#events.add(listener);
  }

  async endSession(sessionId: string): Promise<void> {
    const { servers } = this.#options;
    await Promise.all([servers.endSession(sessionId), ...[...this.#placed.values()].map((server) => server.endSession(sessionId))]);
  }

  /** Hands over what others can have. The servers of this hub are not ours to end. Closing twice is harmless. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0)) close();
    await Promise.all([...this.#placed.values()].map((server) => server.close()));
  }

  #placedOf(local: ToolServer): OneServer | undefined {
    // An edit of the config changes the placement of a server in place.
    if (local.placement !== 'one') {
      this.#replace(local, local);
      return undefined;
    }
    const known = this.#placed.get(local);
    if (known !== undefined) return known;
    const server = new OneServer({ ...this.#options, local, onEvent: (event) => this.#events.emit(event) });
    this.#placed.set(local, server);
    return server;
  }

  #replace(local: ToolServer, next: ToolServer | undefined): void {
    const known = this.#placed.get(local);
    this.#placed.delete(local);
    void known?.close(next);
  }

  #fromLocal(event: ToolServerEvent): void {
    const { servers } = this.#options;
    const current = new Set(servers.all());
    for (const local of [...this.#placed.keys()]) if (!current.has(local)) this.#replace(local, servers.get(local.name));
    const local = servers.get(event.server);
    const before = local && this.#placed.get(local);
    const placed = local && this.#placedOf(local);
    // What runs here is everybody's where nothing is placed, and what is placed otherwise is news.
    if (placed === undefined || placed.fromLocal(event) || placed !== before || event.kind === 'added') this.#events.emit(event);
  }

  /** A call of another hub. That it may be made here was decided when it came in; its guard, its policy and its audit are those of that hub. */
  async #answer({ resource, from, context }: ServedCall): Promise<Awaited<ReturnType<Provider['request']>>> {
    const part = resource.slice(resource.lastIndexOf('.') + 1);
    const server = this.#options.servers.all().find(({ name }) => toKeyPart(name) === part);
    if (server === undefined) throw new NotStarted('not_served');
    const { method, message } = context;
    const { membership } = this.#options;
    switch (method) {
      case eventsMethod:
        return sendEvents(context, membership, (send) => server.subscribe((event) => send({ ...event })));
      case watchTaskMethod:
        return sendEvents(context, membership, () => server.watchTask?.(String(message.taskId), context) ?? (() => {}));
      case endSessionMethod:
        this.#guests.get(from)?.delete(String(message.sessionId));
        await this.#options.servers.endSession(String(message.sessionId));
        return {};
      case startMethod:
        await server.start?.();
        return {};
      case stopMethod:
        await server.stop?.(String(message.why));
        return {};
      case 'tools/list': {
        // The same for all agents, so nobody needs a program of its own for it.
        const tools = await server.listTools();
        return { tools, ...server.toolsCache };
      }
      default:
        if (method.startsWith('notebridge/')) throw new BridgeError('unknown_method', `Hubs of this version do not know "${method}".`);
        if (server.isPerAgent === true) this.#guests.set(from, (this.#guests.get(from) ?? new Set()).add(context.caller.sessionId));
        return server.request(method, message, context);
    }
  }

  #membershipChanged(): void {
    const { membership, servers } = this.#options;
    for (const server of this.#placed.values()) server.membershipChanged();
    if (this.#guests.size === 0) return;
    const alive = new Set(membership.hubs().map(({ id }) => id));
    for (const [hub, sessions] of this.#guests) {
      if (alive.has(hub)) continue;
      // Nothing is held any more for agents of a hub that has ended.
      this.#guests.delete(hub);
      for (const sessionId of sessions) void servers.endSession(sessionId);
    }
  }
}
