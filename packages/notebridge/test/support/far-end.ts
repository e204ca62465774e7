import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseMessage, printMessage } from '@notebridge/protocol/core/wire';
import type { JsonObject } from '@notebridge/protocol/json';
import { type Channel, MessageStream } from '@notebridge/protocol/rpc/message-stream';

/** The other end of a connection, played by a test: everything passes as text, as over a real wire. */
export class FarEnd {
  /** The end that is tested. */
  readonly channel: Channel = { incoming: new MessageStream(), outgoing: new MessageStream() };
  /** Every message that came, as text. */
  readonly received: string[] = [];
  /** True when the tested end hung up. */
  hungUp = false;
  /** Thrown at whoever sends, while set: a socket whose buffer is full. */
  refusal: Error | undefined;
  readonly #lines = new MessageStream<string>();
  readonly #unread = this.#lines[Symbol.asyncIterator]();

  constructor() {
    this.channel.outgoing.consume({
      onItem: (message) => {
        if (this.refusal !== undefined) throw this.refusal;
        const text = printMessage(message);
        this.received.push(text);
        this.#lines.send(text);
      },
      onClose: () => {
        this.hungUp = true;
        this.#lines.close();
      },
    });
  }

  /** Sends a message, or text as it is. */
  send(message: unknown): void {
    this.channel.incoming.send(parseMessage(typeof message === 'string' ? message : JSON.stringify(message)));
  }

  /** Hangs up. */
  close(error?: Error): void {
    this.channel.incoming.close(error);
  }

  /** The next message that was not yet read, as text; waits for it. */
  async nextText(): Promise<string> {
    const { value, done } = await this.#unread.next();
    if (done === true) throw new Error('The tested end hung up.');
    return value;
  }

  async next(): Promise<JsonObject> {
    return JSON.parse(await this.nextText()) as JsonObject;
  }

  /** What came until now, this turn of the loop included. */
  async settled(): Promise<JsonObject[]> {
    await nextTurn();
    return this.received.map((text) => JSON.parse(text) as JsonObject);
  }
}
