import type { JsonObject } from '../json.js';
import { Listeners } from '../util/listeners.js';
import type { CallContext } from './call-context.js';
import type { Tool } from './mcp.js';
import { MemoryProvider, type MemoryProviderOptions, type RunnableTool, toTool } from './memory-provider.js';
import type { Exposure, NameStyle, ServerState, ToolServer, ToolServerEvent, ToolServers } from './tool-server.js';

export interface MemoryToolServerOptions extends MemoryProviderOptions {
  name: string;
  description?: string;
  /** Default `direct`: agents see each tool by itself. */
  expose?: Exposure;
  /** Default `prefixed`: agents call its tools `server__tool`. */
  names?: NameStyle;
}

/** A server whose tools are functions in this process: it always runs. */
export class MemoryToolServer extends MemoryProvider implements ToolServer {
  readonly description: string | undefined;
  readonly isConfig = false;
  readonly expose: Exposure;
  readonly names: NameStyle;
  readonly #since = Date.now();
  #tools: readonly Tool[];
  #inFlight = 0;

  constructor(options: MemoryToolServerOptions) {
    super(options);
    this.description = options.description;
    this.expose = options.expose ?? 'direct';
    this.names = options.names ?? 'prefixed';
    this.#tools = (options.tools ?? []).map(toTool);
  }

  get status(): ServerState['status'] {
    return 'running';
  }

  get state(): ServerState {
    return { status: 'running', since: this.#since, restarts: 0, inFlight: this.#inFlight };
  }

  get knownTools(): readonly Tool[] {
    return this.#tools;
  }

  async listTools(): Promise<readonly Tool[]> {
    return this.#tools;
  }

  override setTools(tools: RunnableTool[]): void {
    this.#tools = tools.map(toTool);
    super.setTools(tools);
  }

  override async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    this.#inFlight++;
    try {
      return await super.request(method, params, context);
    } finally {
      this.#inFlight--;
    }
  }
}

/** Servers that a program puts together itself. */
export class MemoryToolServers implements ToolServers {
  readonly #servers = new Map<string, { server: ToolServer; stop: () => void }>();
  readonly #events = new Listeners<ToolServerEvent>();

  constructor(servers: readonly ToolServer[] = []) {
    for (const server of servers) this.add(server);
  }

  all(): readonly ToolServer[] {
    return [...this.#servers.values()].map(({ server }) => server);
  }

  get(name: string): ToolServer | undefined {
    return this.#servers.get(name)?.server;
  }

  /** Adds a server, in place of one of the same name. */
  add(server: ToolServer): void {
    this.remove(server.name);
    const { name } = server;
    const stop = server.subscribe((notification) => {
      this.#events.emit({ server: name, kind: 'notification', notification });
      if (notification.method === 'notifications/tools/list_changed') this.#events.emit({ server: name, kind: 'tools' });
    });
    this.#servers.set(name, { server, stop });
    this.#events.emit({ server: name, kind: 'added' });
  }

  /** Takes a server out; true if there was one. */
  remove(name: string): boolean {
    const entry = this.#servers.get(name);
    if (entry === undefined) return false;
    entry.stop();
    this.#servers.delete(name);
    this.#events.emit({ server: name, kind: 'removed' });
    return true;
  }

  subscribe(listener: (event: ToolServerEvent) => void): () => void {
    return this.#events.add(listener);
  }
}
