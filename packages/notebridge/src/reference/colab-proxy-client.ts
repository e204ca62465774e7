import { ConnectionWatch } from '../notebooks/pages/connection-watch.js';
import { PageClient, type PageClientOptions } from '../notebooks/pages/page-client.js';
import { ColabTransport } from './colab-transport.js';
import type { ColabWebSocketServer } from './colab-web-socket-server.js';

/** How long `awaitProxyConnection` waits, in seconds. The reference's number. */
export const UI_CONNECTION_TIMEOUT = 60;

/** The client of the Colab page behind a socket server. */
export class ColabProxyClient extends PageClient {
  readonly wss: ColabWebSocketServer;
  /** What keeps the page away. */
  readonly connection: ConnectionWatch;

  constructor(wss: ColabWebSocketServer, options: PageClientOptions = {}) {
    const transport = new ColabTransport(wss);
    super(wss.slot, { connectSession: (sessionOptions) => transport.connectSession(sessionOptions), ...options });
    this.wss = wss;
    this.connection = new ConnectionWatch({ slot: wss.slot, listener: wss, isConnected: this.isConnected });
  }

  override close(): Promise<void> {
    this.connection.close();
    return super.close();
  }

  /** Waits until the page can be called, at most `seconds`. Never throws; ask `isConnected` afterwards. */
  async awaitProxyConnection(seconds: number = UI_CONNECTION_TIMEOUT, signal?: AbortSignal): Promise<void> {
    await this.waitUntilConnected(seconds * 1000, signal);
  }
}
