import { createHmac, randomBytes } from 'node:crypto';
import type { JsonObject } from '@notebridge/protocol/json';
import { WebSocket } from 'ws';

/** A window of the built-in notebook without a browser: what the host says, and requests to it. */
export class WindowSocket implements Disposable {
  readonly messages: JsonObject[] = [];
  readonly #socket: WebSocket;
  readonly #watchers = new Set<() => void>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      this.messages.push(JSON.parse(String(data)) as JsonObject);
      for (const watch of [...this.#watchers]) watch();
    });
  }

  /** `url` is the address of a window, with its token. */
  static async open(url: string): Promise<WindowSocket> {
    const { hash, origin, port } = new URL(url);
    const entered = await fetch(new URL('/enter', origin), { method: 'POST', headers: { origin }, body: hash.slice('#token='.length) });
    const nonce = randomBytes(24).toString('base64url');
    const challenge = await fetch(new URL('/challenge', origin), { method: 'POST', headers: { origin }, body: nonce });
    const { nonce: theirs } = (await challenge.json()) as { nonce: string };
    const text = ['notebridge-window-1', 'window', origin, nonce, theirs].join('\n');
    const proof = createHmac('sha256', await entered.text())
      .update(text)
      .digest('base64url');
    const target = `ws://localhost:${port}/viewer?ticket=${nonce}.${theirs}.${proof}`;
    const window = new WindowSocket(new WebSocket(target, ['notebridge-viewer'], { origin }));
    await window.first('hello');
    return window;
  }

  /** The first message of a type that fits, past or to come. */
  first(type: string, fits: (message: JsonObject) => boolean = () => true): Promise<JsonObject> {
    return new Promise((resolve) => {
      const watch = (): void => {
        const found = this.messages.find((message) => message.type === type && fits(message));
        if (found === undefined) return;
        this.#watchers.delete(watch);
        resolve(found);
      };
      this.#watchers.add(watch);
      watch();
    });
  }

  /** Rejects with what the host refuses. */
  async ask(action: JsonObject): Promise<unknown> {
    const id = ++this.#lastId;
    this.#socket.send(JSON.stringify({ type: 'request', id, action }));
    const done = this.first('done', (message) => message.id === id);
    const failed = this.first('failed', (message) => message.id === id);
    const answer = await Promise.race([done, failed]);
    if (answer.type === 'failed') throw new Error(`${answer.code}: ${answer.message}`);
    return answer.value;
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }
}
