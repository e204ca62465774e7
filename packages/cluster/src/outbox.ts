import type { DataFrame } from './packets.js';
import type { RoundTrips } from './round-trips.js';

/** Frames of one side of an exchange that may be on their way at once: as many as an acknowledgement can tell apart. */
export const maxFramesInFlight = 32;

interface QueuedMessage {
  kind: number;
  payload: Buffer;
  isLast: boolean;
  /** What of it has been cut off already. */
  offset: number;
}

interface SentFrame {
  frame: DataFrame;
  times: number;
  sentAt: number;
  hasArrived: boolean;
}

export interface OutboxOptions {
  exchange: number;
  isOpeners: boolean;
  /** Of one piece of a message. */
  maxPieceBytes: number;
  /** Of what is on its way at once. */
  windowBytes: number;
}

/** What one side of an exchange has to say: cut into frames, kept until the other side has them. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #queue: QueuedMessage[] = [];
  readonly #flight: SentFrame[] = [];
  #next = 0;
  #queuedBytes = 0;
  #bytesInFlight = 0;
  #hasSentFirst = false;
  #hasLast = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** What waits for its first sending. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  get isQueued(): boolean {
    return this.#queue.length > 0;
  }

  get bytesInFlight(): number {
    return this.#bytesInFlight;
  }

  get isInFlight(): boolean {
    return this.#flight.length > 0;
  }

  /** True once the whole first message was sent: before, the other side cannot have begun anything. */
  get hasSentFirst(): boolean {
    return this.#hasSentFirst;
  }

  get hasLast(): boolean {
    return this.#hasLast;
  }

  add(kind: number, payload: Buffer, isLast: boolean): void {
    if (this.#hasLast) return;
    this.#hasLast = isLast;
    this.#queue.push({ kind, payload, isLast, offset: 0 });
    this.#queuedBytes += payload.length;
  }

  /** The next frame, if the window lets it through. */
  take(now: number): DataFrame | undefined {
    const [message] = this.#queue;
    if (message === undefined || this.#flight.length >= maxFramesInFlight) return undefined;
    const { exchange, isOpeners, maxPieceBytes, windowBytes } = this.#options;
    const { kind, offset } = message;
    const payload = message.payload.subarray(offset, offset + maxPieceBytes);
    if (this.#bytesInFlight > 0 && this.#bytesInFlight + payload.length > windowBytes) return undefined;
    message.offset += payload.length;
    const isMore = message.offset < message.payload.length;
    if (!isMore) {
      this.#queue.shift();
      this.#hasSentFirst = true;
    }
    this.#queuedBytes -= payload.length;
    this.#bytesInFlight += payload.length;
    const isLast = message.isLast && !isMore;
    const sequence = this.#next++;
    const frame: DataFrame = { type: 'data', exchange, isOpeners, sequence, ack: 0, early: 0, kind, isMore, isLast, payload };
    this.#flight.push({ frame, times: 1, sentAt: now, hasArrived: false });
    return frame;
  }

  /** Takes an acknowledgement. Gives the frames that were lost, to be sent again at once. */
  acknowledge({ ack, early }: { ack: number; early: number }, now: number, trips: RoundTrips): DataFrame[] {
    let newest: SentFrame | undefined;
    while (this.#flight[0] !== undefined && this.#flight[0].frame.sequence < ack) {
      newest = this.#flight.shift();
      if (newest !== undefined) this.#arrive(newest);
    }
    if (newest?.times === 1) trips.note(now - newest.sentAt);
    if (early === 0) return [];
    let highest = -1;
    for (const sent of this.#flight) {
      const bit = sent.frame.sequence - ack - 1;
      if (bit < 0 || bit > 31 || ((early >>> bit) & 1) === 0) continue;
      this.#arrive(sent);
      highest = sent.frame.sequence;
    }
    // What later ones have overtaken is lost, unless it was sent a moment ago.
    return this.#again(now, ({ frame, sentAt }) => frame.sequence < highest && now - sentAt >= trips.smoothMs);
  }

  /** What was not acknowledged in time, the oldest frames first: the answer to these tells what of the others is missing. */
  overdue(now: number, trips: RoundTrips): DataFrame[] {
    let bytes = 0;
    return this.#again(now, ({ frame, sentAt, times }) => {
      if (bytes > this.#options.maxPieceBytes || now - sentAt < trips.timeoutMs(times)) return false;
      bytes += frame.payload.length;
      return true;
    });
  }

  /** All that is on its way may be lost: it is due at once. */
  expire(): void {
    for (const sent of this.#flight) {
      sent.times = 0;
      sent.sentAt = Number.NEGATIVE_INFINITY;
    }
  }

  clear(): void {
    this.#queue.length = this.#flight.length = 0;
    this.#queuedBytes = this.#bytesInFlight = 0;
    this.#hasLast = true;
  }

  #arrive(sent: SentFrame): void {
    if (sent.hasArrived) return;
    sent.hasArrived = true;
    this.#bytesInFlight -= sent.frame.payload.length;
  }

  #again(now: number, isDue: (sent: SentFrame) => boolean): DataFrame[] {
    const frames: DataFrame[] = [];
    for (const sent of this.#flight) {
      if (sent.hasArrived || !isDue(sent)) continue;
      sent.times++;
      sent.sentAt = now;
      frames.push(sent.frame);
    }
    return frames;
  }
}
