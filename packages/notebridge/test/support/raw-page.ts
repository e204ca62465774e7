import { once } from 'node:events';
import type { JsonObject } from '@notebridge/protocol/json';
import WebSocket from 'ws';
import { colabProfile } from '../../src/notebooks/profiles/colab.js';

export const colabOrigin = 'https://colab.research.google.com';

/** What a page answers: members beside `jsonrpc` and `id`, as an object or as raw text (`"result":{…}`); undefined for nothing. */
export type PageAnswer = JsonObject | string | undefined;

export interface RawPageOptions {
  port: number;
  token: string;
  origin?: string;
  /** Answers a request; undefined gives none. `initialize` and the list of Colab's tools are answered without it. */
  answer?: (request: JsonObject, page: RawPage) => PageAnswer | Promise<PageAnswer>;
  /** Sent before anything was asked, as Colab does. */
  first?: string[];
}

/** A page that does exactly what a test says, frame by frame, over a real socket. */
export class RawPage implements AsyncDisposable {
  readonly socket: WebSocket;
  /** Every frame that came, as text and parsed. */
  readonly received: string[] = [];
  readonly messages: JsonObject[] = [];
  /** Resolves to the close code when the socket is closed, from whichever side. */
  readonly closed: Promise<number>;
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
    // What was answered in place of an upgrade says why.
    this.socket.on('unexpected-response', (request, response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        request.destroy();
        const cause = Buffer.concat(parts).toString();
        this.socket.emit('error', new Error(`Unexpected server response: ${response.statusCode}`, { cause }));
      });
    });
    this.closed = new Promise((resolve) => this.socket.once('close', resolve));
  }

  /** Dials, and waits for nothing. */
  static dial(options: RawPageOptions): RawPage {
    return new RawPage(options);
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

  /** Sends an object as JSON, or a text as it is. */
  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Waits until the messages received satisfy the condition. */
  until(condition: (messages: JsonObject[]) => boolean, timeoutMs = 45_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (end: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(watch);
        end();
      };
      const watch = (): void => {
        if (condition(this.messages)) finish(resolve);
      };
      const timer = setTimeout(() => {
        const shown = this.received.map((text) => text.slice(0, 300)).join('\n');
        finish(() => reject(new Error(`Not within ${timeoutMs} ms: ${condition}. Received: ${shown}`)));
      }, timeoutMs);
      this.#watchers.add(watch);
      watch();
      void this.closed.then((code) => finish(() => reject(new Error(`The page was closed (${code}) before: ${condition}`))));
    });
  }

  /** Waits for a message of that method and gives it; with `after`, for the one after so many. */
  async message(method: string, after = 0): Promise<JsonObject> {
    await this.until((messages) => messages.filter((message) => message.method === method).length > after);
    return this.messages.filter((message) => message.method === method)[after] ?? {};
  }

  async close(code = 1001): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    this.socket.close(code);
    await this.closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.terminate();
  }

  async #receive(text: string): Promise<void> {
    const request = JSON.parse(text) as JsonObject;
    this.received.push(text);
    this.messages.push(request);
    for (const watch of [...this.#watchers]) watch();
    if (request.id === undefined || request.method === undefined) return;
    const answer = (await this.#answer(request, this)) ?? defaultAnswer(request);
    if (answer === undefined) return;
    const members = typeof answer === 'string' ? answer : JSON.stringify(answer).slice(1, -1);
    this.send(`{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},${members}}`);
  }
}

function defaultAnswer({ method, params }: JsonObject): JsonObject | undefined {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: (params as JsonObject).protocolVersion,
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'ColabMCP', version: '1.0.0' },
        },
      };
    case 'tools/list':
      return { result: { tools: [...colabProfile.tools] } };
    default:
      return undefined;
  }
}
