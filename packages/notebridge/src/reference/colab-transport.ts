import { PageSession, type PageSessionOptions } from '../notebooks/pages/page-session.js';
import type { ColabWebSocketServer } from './colab-web-socket-server.js';

/** Makes MCP client sessions over the streams of a socket server. */
export class ColabTransport {
  readonly #wss: ColabWebSocketServer;

  constructor(wss: ColabWebSocketServer) {
    this.#wss = wss;
  }

  /** A session over the streams of now, options forwarded. Not yet initialised: `await session.initialize()`. */
  async connectSession(options: PageSessionOptions = {}): Promise<PageSession> {
    return new PageSession({ incoming: this.#wss.readStream, outgoing: this.#wss.writeStream }, options);
  }

  /** Nothing of its own is open: sessions and the server are closed by who opened them. */
  async [Symbol.asyncDispose](): Promise<void> {}
}
