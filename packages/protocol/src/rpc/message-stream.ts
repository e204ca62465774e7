import { BridgeError } from '../core/errors.js';

/** The callbacks of a stream's consumer. Both are called synchronously. */
export interface StreamConsumer<Item> {
  onItem: (item: Item) => void;
  /** Called once, after the last item; with the error that ended the stream, if one did. */
  onClose?: (error?: Error) => void;
}

/**
 * One direction of a conversation, in memory. Items that come before there is a listener wait in a buffer (a page sends before it
 * is spoken to); after that each is handed over in the same turn, so order and causality of the wire are kept and a hop
 * costs a function call. One consumer; `for await` is one too.
 */
export class MessageStream<Item> implements AsyncIterable<Item> {
  #buffer: Item[] = [];
  #consumer: StreamConsumer<Item> | undefined;
  #taken = false;
  #closed = false;
  #error: Error | undefined;

  /** True once `close` was called. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Hands an item on. After `close` it is dropped, as a socket would. */
  send(item: Item): void {
    if (this.#closed) return;
    if (this.#consumer === undefined) this.#buffer.push(item);
    else this.#consumer.onItem(item);
  }

  /** Ends the stream; the error says why, if it was not on purpose. Closing twice is harmless. */
  close(error?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#error = error;
    this.#consumer?.onClose?.(error);
  }

  /**
   * Starts listening. Buffered items are delivered in order by the next microtask, when the constructor of the consumer has returned.
   * Throws `internal` for a second consumer.
   */
  consume(consumer: StreamConsumer<Item>): void {
    if (this.#taken) throw new BridgeError('internal', 'A message stream has one consumer; this one is taken.');
    this.#taken = true;
    if (this.#buffer.length === 0 && !this.#closed) this.#consumer = consumer;
    else queueMicrotask(() => this.#drain(consumer));
  }

  /** The items until the stream is closed, with or without an error. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, void> {
    const items: Item[] = [];
    let ended = false;
    let wake = (): void => {};
    this.consume({
      onItem: (item) => {
        if (!ended) items.push(item);
        wake();
      },
      onClose: () => {
        ended = true;
        wake();
      },
    });
    try {
      for (;;) {
        while (items.length > 0) yield items.shift() as Item;
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      // A consumer that leaves the loop reads no more: nothing is kept for it.
      ended = true;
    }
  }

  #drain(consumer: StreamConsumer<Item>): void {
    // Items that are sent meanwhile line up behind those that wait; the loop comes to them.
    for (const item of this.#buffer) consumer.onItem(item);
    this.#buffer = [];
    this.#consumer = consumer;
    if (this.#closed) consumer.onClose?.(this.#error);
  }
}

/**
 * The two directions of one connection, seen from one end, as parsed JSON. Closing `outgoing` hangs up; `incoming` closes
 * when the other end is gone. What comes in is outside data: the peer that reads it classifies it.
 */
export interface Channel {
  readonly incoming: MessageStream<unknown>;
  readonly outgoing: MessageStream<unknown>;
}

/** Two ends of a connection inside one process. */
export function createChannelPair(): [Channel, Channel] {
  const there = new MessageStream<unknown>();
  const back = new MessageStream<unknown>();
  return [
    { incoming: back, outgoing: there },
    { incoming: there, outgoing: back },
  ];
}
