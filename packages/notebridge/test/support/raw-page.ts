import { once } from 'node:events';
import WebSocket from 'ws';
import type { JsonObject } from '../../src/util/json.js';

export const colabOrigin = 'https://colab.research.google.com';

export interface RawPageOptions {
  port: number;
  token: string;
  origin?: string;
  /** Answers a request; undefined gives none. `initialize` and empty lists are answered without it. */
  answer?: (request: JsonObject, page: RawPage) => JsonObject | undefined | Promise<JsonObject | undefined>;
  /** Sent before anything was asked, as Colab does. */
  first?: string[];
}

/** A page that does exactly what a test says, frame by frame, over a real socket. */
export class RawPage implements AsyncDisposable {
  readonly socket: WebSocket;
  /** Every frame that came, as text. */
  readonly received: string[] = [];
  readonly #answer: NonNullable<RawPageOptions['answer']>;
  readonly #watchers = new Set<() => void>();

  private constructor(options: RawPageOptions) {
    const { port, token, origin = colabOrigin, first = [] } = options;
    this.#answer = options.answer ?? (() => undefined);
    this.socket = new WebSocket(`ws://localhost:${port}/?access_token=${token}`, ['mcp'], { origin, perMessageDeflate: false });
    this.socket.on('open', () => {
      for (const frame of first) this.socket.send(frame);
    });
    this.socket.on('message', (data) => void this.#receive(String(data)));
    this.socket.on('error', () => {});
  }

  /** Dials and waits for the open socket. */
  static async connect(options: RawPageOptions): Promise<RawPage> {
    const page = new RawPage(options);
    await once(page.socket, 'open');
    return page;
  }

  /** Dials, and waits until `initialize` is over. */
  static async serve(options: RawPageOptions): Promise<RawPage> {
    const page = await RawPage.connect(options);
    await page.until((messages) => messages.some(({ method }) => method === 'notifications/initialized'));
    return page;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Waits until the messages received satisfy the condition. */
  until(condition: (messages: JsonObject[]) => boolean, timeoutMs = 10_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`Not within ${timeoutMs} ms. Received: ${this.received.join('\n')}`)), timeoutMs);
      const watch = (): void => {
        if (!condition(this.received.map((text) => JSON.parse(text) as JsonObject))) return;
        clearTimeout(timer);
        this.#watchers.delete(watch);
        resolve();
      };
      this.#watchers.add(watch);
      watch();
    });
  }

  async close(code = 1001): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.socket, 'close');
    this.socket.close(code);
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.terminate();
  }

  async #receive(text: string): Promise<void> {
    this.received.push(text);
    for (const watch of [...this.#watchers]) watch();
    const request = JSON.parse(text) as JsonObject;
    if (request.id === undefined || request.method === undefined) return;
    const result = (await this.#answer(request, this)) ?? defaultAnswer(request);
    if (result !== undefined) this.send({ jsonrpc: '2.0', id: request.id, ...result });
  }
}

function defaultAnswer({ method, params }: JsonObject): JsonObject | undefined {
  switch (method) {
    case 'initialize':
      return { result: { protocolVersion: (params as JsonObject).protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'ColabMCP', version: '1.0.0' } } };
    case 'tools/list':
      return { result: { tools: [] } };
    default:
      return undefined;
  }
}
