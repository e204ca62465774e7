import type { JsonObject } from '@notebridge/protocol/json';
import { type Channel, createChannelPair } from '@notebridge/protocol/rpc/message-stream';
import { AgentSession } from '../../src/doors/mcp/agent-session.js';
import { ColabSessionProxy, type ColabSessionProxyOptions, McpHost } from '../../src/reference/index.js';

/** An agent inside the test, over a channel: requests with whole answers, and every notification that came. */
export class LibraryAgent {
  readonly notifications: JsonObject[] = [];
  readonly #channel: Channel;
  readonly #waiting = new Map<unknown, (answer: JsonObject) => void>();
  readonly #watchers = new Set<() => void>();
  #lastId = 0;

  constructor(host: McpHost) {
    const [here, there] = createChannelPair();
    this.#channel = here;
    here.incoming.consume({ onItem: (message) => this.#take(message as JsonObject) });
    new AgentSession({ hub: host, channel: there, door: 'library' });
  }

  request(method: string, params: JsonObject = {}, id = ++this.#lastId): Promise<JsonObject> {
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#channel.outgoing.send({ jsonrpc: '2.0', id, method, params });
    });
  }

  notify(method: string, params: JsonObject = {}): void {
    this.#channel.outgoing.send({ jsonrpc: '2.0', method, params });
  }

  /** Answers what it was asked, which is among the notifications. */
  reply(question: JsonObject | undefined, result: JsonObject): void {
    this.#channel.outgoing.send({ jsonrpc: '2.0', id: question?.id, result });
  }

  /** The result of a call; throws for a protocol error. */
  async callTool(name: string, args: JsonObject = {}, meta: JsonObject = {}): Promise<JsonObject> {
    const { result, error } = await this.request('tools/call', { name, arguments: args, _meta: meta });
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return result as JsonObject;
  }

  async toolNames(): Promise<unknown[]> {
    const { result, error } = await this.request('tools/list');
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return ((result as JsonObject).tools as JsonObject[]).map(({ name }) => name);
  }

  named(method: string): JsonObject[] {
    return this.notifications.filter((notification) => notification.method === method);
  }

  /** Waits until the condition holds; looked at after each message. */
  until(condition: () => boolean, timeoutMs = 45_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`Not within ${timeoutMs} ms: ${condition}`)), timeoutMs);
      const watch = (): void => {
        if (!condition()) return;
        clearTimeout(timer);
        this.#watchers.delete(watch);
        resolve();
      };
      this.#watchers.add(watch);
      watch();
    });
  }

  #take(message: JsonObject): void {
    if (message.method === undefined) this.#waiting.get(message.id)?.(message);
    else this.notifications.push(message);
    for (const watch of [...this.#watchers]) watch();
  }
}

/** The reference's classes put together as a library user does, with an agent. */
export class Bridge implements AsyncDisposable {
  /** Every URL that a browser was asked to open. */
  readonly opened: string[] = [];
  /** Every line of the log from `warn` up. */
  readonly warnings: { message: string; fields: JsonObject }[] = [];
  readonly host = new McpHost();
  readonly session: ColabSessionProxy;
  readonly agent: LibraryAgent;

  private constructor(options: ColabSessionProxyOptions) {
    const warn = (message: string, fields: JsonObject = {}): void => void this.warnings.push({ message, fields });
    this.session = new ColabSessionProxy({
      openBrowser: async (url) => {
        this.opened.push(url);
        return { opened: true, by: 'test' };
      },
      logger: { debug() {}, info() {}, warn, error: warn },
      ...options,
    });
    this.agent = new LibraryAgent(this.host);
  }

  /** `capabilities`: what the agent declares. */
  static async open(options: ColabSessionProxyOptions = {}, capabilities: JsonObject = {}): Promise<Bridge> {
    const bridge = new Bridge(options);
    await bridge.session.startProxyServer();
    if (bridge.session.proxyServer === null) throw new Error('not started');
    bridge.host.mount(bridge.session.proxyServer);
    for (const middleware of bridge.session.middleware) bridge.host.addMiddleware(middleware);
    await bridge.agent.request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities,
      clientInfo: { name: 'test', version: '1' },
    });
    bridge.agent.notify('notifications/initialized');
    return bridge;
  }

  get wss(): NonNullable<ColabSessionProxy['wss']> {
    if (this.session.wss === null) throw new Error('not started');
    return this.session.wss;
  }

  /** Where a page dials. */
  get address(): { port: number; token: string } {
    return { port: this.wss.port, token: this.wss.token };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.host.close();
    await this.session.cleanup();
  }
}
