import { appendAll } from '@notebridge/protocol/util/long-lists';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import type { HubExchange } from './hub-exchange.js';
import type { DataFrame, HubFrame, WhyOver } from './packets.js';

export interface ExchangeLimits {
  /** Exchanges that one hub may have open at another at once. */
  maxExchanges: number;
  /** Of one message. */
  maxMessageBytes: number;
  /** Of all messages that have come in part, of all hubs together. */
  maxHeldBytes: number;
  /** What may be on its way at once: of one side of an exchange, and to one hub. */
  windowBytes: number;
  linkWindowBytes: number;
  /** How long an acknowledgement waits for something to travel with. Milliseconds. */
  ackMs: number;
  /** How long a side of an exchange says nothing at most, and after how long of hearing nothing it is over. Milliseconds. */
  quietMs: number;
  silenceMs: number;
}

/** The parts of a link that its sender has, too. */
export interface LinkParts {
  runtime: Runtime;
  limits: ExchangeLimits;
  isConnected: () => boolean;
}

export interface LinkSenderOptions extends LinkParts {
  /** Signs and sends. */
  send: (frames: readonly HubFrame[]) => void;
  /** The exchange of a frame that is sent again, if it is open still. */
  exchangeOf: (frame: DataFrame) => HubExchange | undefined;
}

/** What goes to another hub: what is said at one time goes together, and what acknowledges waits a little for company. */
export class LinkSender {
  readonly #options: LinkSenderOptions;
  /** Have something to say. */
  readonly #ready = new Set<HubExchange>();
  /** Have heard something that was not acknowledged. */
  readonly #acks = new Set<HubExchange>();
  readonly #urgentAcks = new Set<HubExchange>();
  readonly #overs: HubFrame[] = [];
  #again: DataFrame[] = [];
  #bytesInFlight = 0;
  #isFlushing = false;
  #stopAcks: (() => void) | undefined;

  constructor(options: LinkSenderOptions) {
    this.#options = options;
  }

  /** The exchange has something to say. */
  add(exchange: HubExchange): void {
    this.#ready.add(exchange);
    this.#flushSoon();
  }

  /** The exchange has heard something. `isUrgent`: the other side waits for being told, or something is missing. */
  acknowledge(exchange: HubExchange, { isUrgent }: { isUrgent: boolean }): void {
    this.#acks.add(exchange);
    if (!isUrgent) return this.#wait();
    this.#urgentAcks.add(exchange);
    this.#flushSoon();
  }

  /** Tells the other hub that an exchange is over here, with what goes there next. */
  over(exchange: number, isOpeners: boolean, why: WhyOver = 'ended'): void {
    if (this.#overs.length < this.#options.limits.maxExchanges) this.#overs.push({ type: 'over', exchange, isOpeners, why });
    this.#wait();
  }

  resend(frames: readonly DataFrame[]): void {
    if (frames.length === 0) return;
    appendAll(this.#again, frames);
    this.#flushSoon();
  }

  /** So many bytes have arrived, or need not any more. */
  landed(bytes: number): void {
    this.#bytesInFlight -= bytes;
    if (this.#ready.size > 0) this.#flushSoon();
  }

  /** The exchange is over. */
  drop(exchange: HubExchange): void {
    this.#ready.delete(exchange);
    this.#acks.delete(exchange);
    this.#urgentAcks.delete(exchange);
    this.landed(exchange.outbox.bytesInFlight);
  }

  /** Sends what there is; `withAcks` also what could wait for company. */
  flush({ withAcks = false } = {}): void {
    const { isConnected, exchangeOf, runtime, send } = this.#options;
    if (!isConnected()) {
      // It is asked for again, or sent again in time.
      this.#overs.length = 0;
      this.#again = [];
      return;
    }
    const now = runtime.steady();
    const frames: HubFrame[] = [];
    const add = (frame: HubFrame & { type: 'data' | 'ack' }, exchange: HubExchange): void => {
      frame.ack = exchange.inbox.ack;
      frame.early = exchange.inbox.early;
      exchange.inbox.tell();
      exchange.saidAt = now;
      this.#acks.delete(exchange);
      this.#urgentAcks.delete(exchange);
      frames.push(frame);
    };
    for (const frame of this.#again.splice(0)) {
      const exchange = exchangeOf(frame);
      if (exchange !== undefined) add(frame, exchange);
    }
    appendAll(frames, this.#overs.splice(0));
    this.#takeTurns(now, add);
    for (const exchange of withAcks ? this.#acks : this.#urgentAcks)
      add({ type: 'ack', exchange: exchange.number, isOpeners: exchange.isOpener, ack: 0, early: 0 }, exchange);
    if (frames.length > 0) send(frames);
  }

  stop(): void {
    this.#stopAcks?.();
    this.#stopAcks = undefined;
    this.#overs.length = 0;
    this.#again = [];
  }

  /** A frame of each exchange in turn, as far as their windows and that of the link go. */
  #takeTurns(now: number, add: (frame: DataFrame, exchange: HubExchange) => void): void {
    for (let turn = [...this.#ready]; turn.length > 0; ) {
      const next: HubExchange[] = [];
      for (const exchange of turn) {
        if (this.#bytesInFlight >= this.#options.limits.linkWindowBytes) return;
        const frame = exchange.outbox.take(now);
        if (frame !== undefined) {
          this.#bytesInFlight += frame.payload.length;
          add(frame, exchange);
        }
        if (frame !== undefined && exchange.outbox.isQueued) next.push(exchange);
        else this.#ready.delete(exchange);
      }
      turn = next;
    }
  }

  #wait(): void {
    this.#stopAcks ??= this.#options.runtime.after(this.#options.limits.ackMs, () => {
      this.#stopAcks = undefined;
      this.flush({ withAcks: true });
    });
  }

  /** Once for all that is said before the next messages come in: a packet costs as much as all that is in it. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    this.#options.runtime.after(0, () => {
      this.#isFlushing = false;
      this.flush();
    });
  }
}
