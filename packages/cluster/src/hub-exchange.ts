import { Inbox } from './inbox.js';
import { Outbox, type OutboxOptions } from './outbox.js';

/**
 * How an exchange ended. `done`: the side that answers has said its last, and the other has it. `gone`: the other hub ended, fell silent or
 * does not know it any more. It was not begun: the other hub takes no more at once (`full`), or no message that `large`. `overflow`: this hub
 * has no room for what came.
 */
export type ExchangeEnd = 'done' | 'gone' | 'full' | 'large' | 'overflow';

export interface ExchangeListener {
  /** In the order in which the other side sent them. */
  onMessage(kind: number, payload: Buffer): void;
  /** Called once, and nothing after it. */
  onEnd(end: ExchangeEnd): void;
}

export interface HubExchangeOptions extends OutboxOptions {
  /** The other hub. */
  hub: string;
  now: number;
  /** Called when there is something to send. */
  onReady: (exchange: HubExchange) => void;
  /** Called to end it on this side. */
  onClose: (exchange: HubExchange) => void;
}

/** One call between two hubs, as the messages of both sides. The side that answers ends it by its last message. */
export class HubExchange {
  readonly hub: string;
  /** Of those that one hub has opened at the other: it rises. */
  readonly number: number;
  /** True: this hub has opened it. */
  readonly isOpener: boolean;
  readonly outbox: Outbox;
  readonly inbox = new Inbox();
  /** When the other side was heard of in it, and when it last heard of this one. Milliseconds of the steady clock. */
  heardAt: number;
  saidAt: number;
  listener: ExchangeListener | undefined;
  readonly #options: HubExchangeOptions;
  #isOver = false;

  constructor(options: HubExchangeOptions) {
    this.hub = options.hub;
    this.number = options.exchange;
    this.isOpener = options.isOpeners;
    this.outbox = new Outbox(options);
    this.heardAt = this.saidAt = options.now;
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What waits for the other side to take what was sent before. Bytes. */
  get queuedBytes(): number {
    return this.outbox.queuedBytes;
  }

  /** Says something. What is said after the end, or after the last, is dropped. The payload is kept as it is until it has arrived. */
  send(kind: number, payload: Buffer, { isLast = false }: { isLast?: boolean } = {}): void {
    if (this.#isOver) return;
    this.outbox.add(kind, payload, isLast);
    this.#options.onReady(this);
  }

  /** Ends it at once, for both sides. Its own listener hears nothing of that. */
  close(): void {
    if (this.#isOver) return;
    this.listener = undefined;
    this.#options.onClose(this);
  }

  /** For the link: it is over. */
  end(how: ExchangeEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.outbox.clear();
    this.inbox.clear();
    this.listener?.onEnd(how);
    this.listener = undefined;
  }
}
