import { BridgeError } from '@notebridge/protocol/core/errors';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import { type ExchangeEnd, type ExchangeListener, HubExchange } from './hub-exchange.js';
import { type LinkParts, LinkSender } from './link-sender.js';
import { NumberRanges } from './number-ranges.js';
import type { DataFrame, HubFrame, HubPacket, WhyOver } from './packets.js';
import { RoundTrips } from './round-trips.js';

export interface HubLinkOptions extends LinkParts {
  hub: string;
  maxPieceBytes: number;
  /** Signs and sends. */
  send: (lowest: number, frames: readonly HubFrame[]) => void;
  /** The other hub has opened an exchange. */
  onOpen: (exchange: HubExchange) => ExchangeListener;
  /** Bytes of messages that have come in part, counted over all links. */
  held: { bytes: number };
  /** What listens has thrown. */
  onFault: (error: unknown) => void;
}

/** All exchanges between this hub, in one of its lives, and another. */
export class HubLink {
  readonly #options: HubLinkOptions;
  readonly #runtime: Runtime;
  readonly #trips: RoundTrips;
  readonly #sender: LinkSender;
  /** In the order of their numbers. */
  readonly #outgoing = new Map<number, HubExchange>();
  readonly #incoming = new Map<number, HubExchange>();
  /** Numbers of the other hub, from `#floor` on, that were opened here: none is opened twice. */
  readonly #opened: NumberRanges;
  /** Why some of these were not begun: it is said again if it was lost, or what was certainly not made would be "outcome unknown". */
  readonly #refused = new Map<number, WhyOver>();
  #floor = 1;
  #highest = 0;
  #next = 1;
  #stopTicks: (() => void) | undefined;
  #sweptAt = 0;

  constructor(options: HubLinkOptions) {
    const { runtime, limits } = options;
    this.#options = options;
    this.#runtime = runtime;
    this.#trips = new RoundTrips(limits.ackMs);
    this.#opened = new NumberRanges(limits.maxExchanges);
    this.#sender = new LinkSender({
      ...options,
      exchangeOf: (frame) => (frame.isOpeners ? this.#outgoing : this.#incoming).get(frame.exchange),
      send: (frames) => options.send(this.#lowest, frames),
    });
  }

  get openCount(): number {
    return this.#outgoing.size + this.#incoming.size;
  }

  /** As how many ranges the numbers are remembered that were opened here. */
  get rangeCount(): number {
    return this.#opened.rangeCount;
  }

  /** Opens an exchange by what is sent in it first. Throws `limit_reached`. */
  open(listener: ExchangeListener): HubExchange {
    const { maxExchanges } = this.#options.limits;
    if (this.#outgoing.size >= maxExchanges)
      throw new BridgeError('limit_reached', `${maxExchanges} calls to another hub of the cluster are open; wait for some to end.`);
    const exchange = this.#create(this.#next++, true);
    exchange.listener = listener;
    this.#outgoing.set(exchange.number, exchange);
    this.#startTicks();
    return exchange;
  }

  receive({ lowest, frames }: HubPacket): void {
    if (lowest > this.#floor) this.#raiseFloor(lowest);
    for (const frame of frames) this.#take(frame);
  }

  /** Ends all exchanges. None of these is opened again, should the other hub be heard of once more. */
  end(): void {
    for (const exchange of this.#all()) this.#end(exchange, 'gone');
    this.#raiseFloor(Math.max(this.#floor, this.#highest + 1));
    this.#sender.stop();
    this.#stopTicks?.();
    this.#stopTicks = undefined;
  }

  /** Ends all exchanges, and tells the other hub. */
  close(): void {
    for (const { number, isOpener } of this.#all()) this.#sender.over(number, isOpener);
    this.#sender.flush();
    this.end();
  }

  /** What was sent before may be lost. */
  reconnect(): void {
    for (const exchange of this.#all()) {
      exchange.outbox.expire();
      if (exchange.outbox.isQueued) this.#sender.add(exchange);
    }
    if (this.openCount > 0) this.#tick();
  }

  #create(number: number, isOpener: boolean): HubExchange {
    const { hub, limits, maxPieceBytes } = this.#options;
    return new HubExchange({
      hub,
      exchange: number,
      isOpeners: isOpener,
      maxPieceBytes,
      windowBytes: limits.windowBytes,
      now: this.#runtime.steady(),
      onReady: (ready) => this.#sender.add(ready),
      onClose: (closed) => {
        this.#sender.over(closed.number, closed.isOpener);
        this.#end(closed, 'gone');
      },
    });
  }

  #take(frame: HubFrame): void {
    const { isOpeners, exchange: number } = frame;
    const exchange = isOpeners ? this.#incomingOf(frame) : this.#outgoing.get(number);
    if (exchange === undefined) {
      const isKnownToBeOver = isOpeners ? number < this.#floor || this.#opened.has(number) : number < this.#next;
      if (frame.type !== 'over' && isKnownToBeOver)
        this.#sender.over(number, !isOpeners, isOpeners ? this.#refused.get(number) : undefined);
      return;
    }
    const now = this.#runtime.steady();
    exchange.heardAt = now;
    if (frame.type === 'over') return this.#end(exchange, frame.why === 'ended' ? endOf(exchange) : frame.why);
    const { outbox } = exchange;
    const before = outbox.bytesInFlight;
    this.#sender.resend(outbox.acknowledge(frame, now, this.#trips));
    this.#sender.landed(before - outbox.bytesInFlight);
    // Something of it may have waited for room.
    if (outbox.isQueued) this.#sender.add(exchange);
    if (frame.type === 'data') this.#hear(exchange, frame);
  }

  /** The exchange of a number of the other hub, opened if this is the first of it that comes. */
  #incomingOf(frame: HubFrame): HubExchange | undefined {
    const number = frame.exchange;
    const known = this.#incoming.get(number);
    if (known !== undefined || frame.type !== 'data' || number < this.#floor || this.#opened.has(number)) return known;
    this.#opened.add(number);
    this.#highest = Math.max(this.#highest, number);
    if (this.#incoming.size >= this.#options.limits.maxExchanges) {
      this.#refuse(number, 'full');
      return undefined;
    }
    const exchange = this.#create(number, false);
    this.#incoming.set(number, exchange);
    exchange.listener = this.#options.onOpen(exchange);
    this.#startTicks();
    return exchange;
  }

  #hear(exchange: HubExchange, frame: DataFrame): void {
    const { inbox, number, isOpener } = exchange;
    const { limits, held } = this.#options;
    const before = inbox.heldBytes;
    const isNext = inbox.take(frame);
    const arrived = [];
    for (let message = inbox.shift(); message !== undefined; message = inbox.shift()) arrived.push(message);
    held.bytes += inbox.heldBytes - before;
    for (const { kind, payload, isLast } of arrived) {
      // What has come is acknowledged, and comes no more: one that fails keeps back none that follow.
      this.#guard(() => exchange.listener?.onMessage(kind, payload));
      if (!isLast || !isOpener || exchange.isOver) continue;
      this.#sender.over(number, true);
      return this.#end(exchange, 'done');
    }
    if (exchange.isOver) return;
    const isLarge = inbox.heldBytes > limits.maxMessageBytes;
    if (isLarge || held.bytes > limits.maxHeldBytes) {
      if (isOpener || inbox.hasFirst) this.#sender.over(number, isOpener);
      else this.#refuse(number, isLarge ? 'large' : 'full');
      return this.#end(exchange, 'overflow');
    }
    this.#sender.acknowledge(exchange, { isUrgent: !isNext || inbox.mustTell(limits.windowBytes) });
  }

  #refuse(number: number, why: WhyOver): void {
    this.#sender.over(number, false, why);
    // Whoever forgets the oldest says of it what is true of all: that it is over.
    keepLatest(this.#refused, [number, why], this.#options.limits.maxExchanges);
  }

  #raiseFloor(floor: number): void {
    const from = this.#floor;
    this.#floor = floor;
    this.#opened.removeBelow(floor);
    for (const number of this.#refused.keys()) if (number < floor) this.#refused.delete(number);
    const isFar = floor - from > this.#incoming.size;
    const numbers = isFar ? [...this.#incoming.keys()] : Array.from({ length: floor - from }, (_, index) => from + index);
    for (const number of numbers) {
      const exchange = number < floor ? this.#incoming.get(number) : undefined;
      if (exchange !== undefined) this.#end(exchange, endOf(exchange));
    }
  }

  #end(exchange: HubExchange, how: ExchangeEnd): void {
    (exchange.isOpener ? this.#outgoing : this.#incoming).delete(exchange.number);
    this.#sender.drop(exchange);
    this.#options.held.bytes -= exchange.inbox.heldBytes;
    this.#guard(() => exchange.end(how));
  }

  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#options.onFault(error);
    }
  }

  get #lowest(): number {
    for (const number of this.#outgoing.keys()) return number;
    return this.#next;
  }

  #all(): HubExchange[] {
    return [...this.#outgoing.values(), ...this.#incoming.values()];
  }

  #startTicks(): void {
    if (this.#stopTicks !== undefined || this.openCount === 0) return;
    const ms = Math.min(500, this.#trips.timeoutMs(1) / 2);
    this.#stopTicks = this.#runtime.after(ms, () => {
      this.#stopTicks = undefined;
      this.#tick();
      this.#startTicks();
    });
  }

  /** What no message brings about: frames are sent again, and silence is noticed. */
  #tick(): void {
    const now = this.#runtime.steady();
    const { limits, isConnected } = this.#options;
    const mustSweep = now - this.#sweptAt >= limits.quietMs / 2;
    if (mustSweep) this.#sweptAt = now;
    let isQuiet = false;
    for (const exchange of this.#all()) {
      if (exchange.outbox.isInFlight && isConnected()) this.#sender.resend(exchange.outbox.overdue(now, this.#trips));
      if (!mustSweep) continue;
      if (now - exchange.heardAt >= limits.silenceMs) {
        this.#sender.over(exchange.number, exchange.isOpener);
        this.#end(exchange, 'gone');
      } else if (now - exchange.saidAt >= limits.quietMs) {
        this.#sender.acknowledge(exchange, { isUrgent: false });
        isQuiet = true;
      }
    }
    if (isQuiet) this.#sender.flush({ withAcks: true });
  }
}

/** How an exchange ends of which the other side says no more than that. */
function endOf(exchange: HubExchange): ExchangeEnd {
  return !exchange.isOpener && exchange.outbox.hasLast ? 'done' : 'gone';
}
