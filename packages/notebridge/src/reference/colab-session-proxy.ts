import type { Middleware } from '@notebridge/protocol/core/middleware';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { ToolInjectionMiddleware } from '../middleware/tool-injection.js';
import { type ConnectionState, type ConnectionWays, describeConnection, isTrouble } from '../notebooks/connection-state.js';
import type { PageClientOptions, PageLimits } from '../notebooks/pages/page-client.js';
import { createPageProxy, type ProxyServer } from '../notebooks/pages/proxy-server.js';
import { ColabProxyClient, UI_CONNECTION_TIMEOUT } from './colab-proxy-client.js';
import { ColabProxyMiddleware } from './colab-proxy-middleware.js';
import { ColabWebSocketServer, type ColabWebSocketServerOptions } from './colab-web-socket-server.js';
import { toWays } from './open-advice.js';
import { checkSessionProxyTool, openToolName } from './open-tool.js';
import { PageOpener, type PageOpenerOptions } from './page-opener.js';

export interface ColabSessionProxyOptions extends ColabWebSocketServerOptions, PageLimits, Pick<PageClientOptions, 'record'> {
  /** `static`: tools are listed whether or not the page is there (default). `dynamic`: only while it is, as in the reference. */
  list?: 'static' | 'dynamic' | undefined;
  /** Opens URLs for the person. Default: the system's browser. */
  openBrowser?: PageOpenerOptions['open'];
  /** A fresh address of the page that shows a person what keeps the notebook page away. Default: there is no such page. */
  connectAddress?: (() => string) | undefined;
}

/** Below the minute after which many agents give up on a tool. Seconds. */
const longWaitSeconds = 45;

/** What agents are told of the proxy; the reference's words. */
const instructions = "Connects to a user's Google Colab session in a browser and allows for interactions with their Google Colab notebook";

/**
 * One live Colab notebook, from the socket that its page dials to the provider and the middlewares that a host mounts. Call
 * `startProxyServer`, mount, and at the end `cleanup`.
 */
export class ColabSessionProxy {
  /** What to mount on a host; null before `startProxyServer`. */
  proxyServer: ProxyServer | null = null;
  /** What to add to a host, in this order; empty before `startProxyServer`. */
  middleware: Middleware[] = [];
  /** Who speaks with the page; null before `startProxyServer`. */
  client: ColabProxyClient | null = null;
  /** The socket server; null before `startProxyServer`. */
  wss: ColabWebSocketServer | null = null;
  readonly #options: ColabSessionProxyOptions;
  readonly #logger: Logger;
  readonly #opener: PageOpener;
  #starting: Promise<void> | undefined;
  #turn: Promise<void> = Promise.resolve();
  #closers: (() => Promise<void>)[] = [];

  constructor(options: ColabSessionProxyOptions = {}) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    const { profile, allowOrigins, openBrowser } = options;
    this.#opener = new PageOpener({ profile, allowOrigins, open: openBrowser });
  }

  /** What the notebook page has come to, and how one connects; undefined before `startProxyServer`. */
  get connection(): { state: ConnectionState; ways: ConnectionWays } | undefined {
    const { client } = this;
    return client === null ? undefined : { state: client.connection.state, ways: toWays(client.wss, this.#opener.addressOf(client.wss)) };
  }

  /**
   * Opens the socket, the client and the proxy. Starting twice is harmless, and after `cleanup` it starts anew. Rejects with
   * `port_in_use`, leaving nothing open.
   */
  startProxyServer(): Promise<void> {
    if (this.#starting !== undefined) return this.#starting;
    const starting = this.#inTurn(() => this.#start());
    this.#starting = starting;
    starting.catch(() => {
      if (this.#starting === starting) this.#starting = undefined;
    });
    return starting;
  }

  /** Closes all that was opened, last first, from any state. Closing twice is harmless. */
  cleanup(): Promise<void> {
    this.#starting = undefined;
    return this.#inTurn(() => this.#close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cleanup();
  }

  /** Starting and closing never overlap, in whatever order they are called. */
  #inTurn(step: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(step);
    this.#turn = done.catch(() => {});
    return done;
  }

  async #start(): Promise<void> {
    const wss = await new ColabWebSocketServer(this.#options).start();
    const client = this.#createClient(wss).start();
    this.#closers.push(
      () => wss.close(),
      () => client.close(),
      // First, so that the page hears that we go away, not that the conversation is over.
      async () => void wss.slot.close(),
    );
    this.proxyServer = this.#createProxyServer(wss, client);
    this.middleware = [this.#createMiddleware(client), new ToolInjectionMiddleware({ tools: [checkSessionProxyTool] })];
    this.client = client;
    this.wss = wss;
  }

  async #close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }

  #createClient(wss: ColabWebSocketServer): ColabProxyClient {
    const { clientInfo, graceMs, handshakeMs, callTimeoutMs = 3_600_000, record } = this.#options;
    return new ColabProxyClient(wss, { clientInfo, graceMs, handshakeMs, callTimeoutMs, record, logger: this.#logger });
  }

  #createProxyServer(wss: ColabWebSocketServer, client: ColabProxyClient): ProxyServer {
    const nextStep = (): string => {
      const { state, ways } = this.connection ?? {};
      if (state === undefined || ways === undefined || !isTrouble(state))
        return `Call "${openToolName}" first; if the page was just closed, open it again.`;
      // How it is mended stands in the open tool's answer, which alone names the token.
      return `${describeConnection(state, ways).text} Call "${openToolName}": its answer says what a person can do.`;
    };
    const { provider, stop } = createPageProxy({
      slot: wss.slot,
      client,
      instructions,
      isStatic: this.#options.list !== 'dynamic',
      nextStep,
      logger: this.#logger,
    });
    this.#closers.push(async () => stop());
    return provider;
  }

  #createMiddleware(client: ColabProxyClient): ColabProxyMiddleware {
    const { list, connectAddress } = this.#options;
    return new ColabProxyMiddleware(client, {
      opener: this.#opener,
      connectAddress,
      defaultWaitSeconds: list === 'dynamic' ? UI_CONNECTION_TIMEOUT : longWaitSeconds,
    });
  }
}
