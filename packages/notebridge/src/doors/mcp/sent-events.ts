import type { Printed } from '../../core/wire.js';
import type { McpHttpLimits } from './http-call.js';

export type SentEventLimits = Pick<McpHttpLimits, 'maxSentEvents' | 'maxSentBytes' | 'maxAllSentBytes' | 'sentKeptMs'>;

/** An event of a stream that may be asked for again. */
export interface SentEvent {
  /** Its place in its stream, from 1 on. */
  number: number;
  data: Printed;
  bytes: number;
  /** By the clock of the door. */
  sentAt: number;
  /** Called when it is dropped; of one stream's events in order. */
  onDropped: () => void;
}

/** What all sessions of a door hold together: past its bound the session that holds the most gives up its oldest. */
export class AllSentEvents {
  readonly limits: SentEventLimits;
  readonly now: () => number;
  readonly #sessions = new Set<SentEvents>();
  #bytes = 0;

  constructor({ limits, now }: { limits: SentEventLimits; now: () => number }) {
    this.limits = limits;
    this.now = now;
  }

  /** Counts what a session has added, or with a negative number dropped. */
  count(session: SentEvents, bytes: number): void {
    this.#bytes += bytes;
    if (session.bytes > 0) this.#sessions.add(session);
    else this.#sessions.delete(session);
    while (bytes > 0 && this.#bytes > this.limits.maxAllSentBytes) this.#largest()?.dropOldest();
  }

  #largest(): SentEvents | undefined {
    let largest: SentEvents | undefined;
    for (const session of this.#sessions) if (session.bytes > (largest?.bytes ?? 0)) largest = session;
    return largest;
  }
}

/** The events of one session's streams, oldest first, within bounds of their number, bytes and age. */
export class SentEvents {
  readonly #all: AllSentEvents;
  #events: SentEvent[] = [];
  #bytes = 0;

  constructor(all: AllSentEvents) {
    this.#all = all;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(event: SentEvent): void {
    const { maxSentEvents, maxSentBytes } = this.#all.limits;
    this.#events.push(event);
    this.#bytes += event.bytes;
    while (this.#events.length > maxSentEvents || this.#bytes > maxSentBytes) this.dropOldest();
    this.#all.count(this, event.bytes);
  }

  dropOldest(): void {
    const event = this.#events.shift();
    if (event === undefined) return;
    this.#bytes -= event.bytes;
    this.#all.count(this, -event.bytes);
    event.onDropped();
  }

  /** Drops what is too old. */
  sweep(): void {
    const oldest = this.#all.now() - this.#all.limits.sentKeptMs;
    while ((this.#events[0]?.sentAt ?? Number.POSITIVE_INFINITY) <= oldest) this.dropOldest();
  }

  /** Lets go of everything, and tells nobody. */
  clear(): void {
    const bytes = this.#bytes;
    this.#events = [];
    this.#bytes = 0;
    this.#all.count(this, -bytes);
  }
}
