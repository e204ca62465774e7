import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { EventIds, placeOfEvent, type Requests } from './event-ids.js';
import type { McpHttpLimits } from './http-call.js';
import type { HttpEventStreamOptions } from './http-event-stream.js';
import { type AllSentEvents, ResumableStream, SentEvents } from './resumable-stream.js';

export interface SessionStreamsOptions {
  limits: Pick<McpHttpLimits, 'sentKeptMs' | 'retryMs' | 'pollAfterMs'>;
  allSent: AllSentEvents;
  /** True if the agent knows events without data. */
  isPrimed: () => boolean;
}

/** Streams without a connection that are remembered: one that an agent has left, and will mostly never ask for. */
const maxLeft = 256;

/** The streams of one session, and which one an event id belongs to. */
export class SessionStreams {
  readonly #options: SessionStreamsOptions;
  readonly #sent: SentEvents;
  /** So that an event id of another session is of none of these. */
  readonly #prefix = randomBytes(6).toString('hex');
  readonly #streams = new Map<number, ResumableStream>();
  #opened = 0;

  constructor(options: SessionStreamsOptions) {
    this.#options = options;
    this.#sent = new SentEvents(options.allSent);
  }

  /** True while the agent of a stream is expected to come back for its answer. */
  get isAwaited(): boolean {
    return [...this.#streams.values()].some(({ isAwaited }) => isAwaited);
  }

  /** Opens a stream, at once, so that the agent sees that it is there. `requests`: it ends with the answer to them. */
  open(response: ServerResponse, { requests, ...options }: HttpEventStreamOptions & { requests?: Requests }): ResumableStream {
    const { limits, allSent, isPrimed } = this.#options;
    const number = ++this.#opened;
    const ids = new EventIds(`${this.#prefix}-${number}`, requests);
    const { retryMs, pollAfterMs } = limits;
    const hasAnswer = requests !== undefined;
    const stream = new ResumableStream({ ids, sent: this.#sent, now: allSent.now, isPrimed, retryMs, pollAfterMs, hasAnswer });
    this.#streams.set(number, stream);
    stream.connect(response, options);
    if (this.#streams.size > maxLeft) this.#forgetLeft();
    return stream;
  }

  /** The stream on which the event of that id was sent, and its number there; undefined if there is none, or none any more. */
  find(eventId: string): { stream: ResumableStream; number: number } | undefined {
    this.sweep();
    const { prefix, stream: at = 0, number = 0 } = placeOfEvent(eventId) ?? {};
    const stream = prefix === this.#prefix ? this.#streams.get(at) : undefined;
    return stream?.has(number, eventId) === true ? { stream, number } : undefined;
  }

  /** Forgets what is too old. */
  sweep(): void {
    const { allSent, limits } = this.#options;
    const now = allSent.now();
    this.#sent.sweep();
    for (const [number, stream] of this.#streams) {
      if (!stream.isLeft) stream.lastUsed = now;
      else if (now - stream.lastUsed >= limits.sentKeptMs) this.#streams.delete(number);
    }
  }

  /** Ends all. */
  close(): void {
    for (const stream of this.#streams.values()) stream.end();
    this.#streams.clear();
    this.#sent.clear();
  }

  /** The oldest first. */
  #forgetLeft(): void {
    for (const [number, stream] of this.#streams) {
      if (this.#streams.size <= maxLeft) return;
      if (stream.isLeft) this.#streams.delete(number);
    }
  }
}
