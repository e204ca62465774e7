import { Listeners } from '@notebridge/kit/listeners';
import type WebSocket from 'ws';
import type { JupyterServer } from './jupyter-server.js';
import {
  binaryProtocol,
  createMessage,
  type KernelMessage,
  type KernelRequest,
  parseKernelMessage,
  printKernelMessage,
} from './kernel-message.js';

export interface ChannelOptions {
  session: string;
  parse?: ((text: string) => unknown) | undefined;
}

/** The socket to one kernel of the server, as long as both live. */
export class KernelChannel {
  readonly kernelId: string;
  /** Called once: closed by us, or gone. */
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;
  readonly #session: string;
  readonly #isBinary: boolean;
  readonly #messages = new Listeners<KernelMessage>();

  private constructor(kernelId: string, socket: WebSocket, { session, parse }: ChannelOptions) {
    this.kernelId = kernelId;
    this.#socket = socket;
    this.#session = session;
    this.#isBinary = socket.protocol === binaryProtocol;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('message', (data: Buffer, isBinary) => {
      const message = parseKernelMessage(data, isBinary, parse);
      if (message) this.#messages.emit(message);
    });
    socket.resume();
  }

  /**
   * `session`: a UUID of the client's own. A second socket with the same one closes the first, and receives what came while there was
   * none. `parse`: of JSON; default: that of JavaScript. Rejects as `JupyterServer.connect` does.
   */
  static async open(server: JupyterServer, kernelId: string, options: ChannelOptions): Promise<KernelChannel> {
    const socket = await server.connect(`api/kernels/${encodeURIComponent(kernelId)}/channels`, {
      query: { session_id: options.session },
      protocols: [binaryProtocol],
    });
    return new KernelChannel(kernelId, socket, options);
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  onMessage(listener: (message: KernelMessage) => void): () => void {
    return this.#messages.add(listener);
  }

  /** Returns the id of the message. */
  send(request: KernelRequest): string {
    const { id, message } = createMessage(request, this.#session);
    this.#socket.send(printKernelMessage(message, this.#isBinary));
    return id;
  }

  close(): void {
    this.#socket.close();
    // A server that has hung up does not answer the handshake of the end.
    const timer = setTimeout(() => this.#socket.terminate(), 1000);
    this.#socket.once('close', () => clearTimeout(timer));
  }
}
