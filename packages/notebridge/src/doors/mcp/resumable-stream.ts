import type { ServerResponse } from 'node:http';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { byteLengthOf, type Printed } from '@notebridge/protocol/core/wire';
import { isJsonObject } from '@notebridge/protocol/json';
import { isRpcId, printFrameInPieces, type RpcId, toErrorAnswer, toNotification } from '@notebridge/protocol/rpc/messages';
import { appendAll } from '@notebridge/protocol/util/long-lists';
import { EventStream } from '../http/event-stream.js';
import type { EventIds } from './event-ids.js';
import type { McpHttpLimits } from './http-call.js';
import type { AnswerStream, HttpEventStreamOptions } from './http-event-stream.js';
import { UnreadNotifications } from './unread-notifications.js';

export interface ResumableStreamOptions {
  /** No other stream has the same. */
  ids: EventIds;
  sent: SentEvents;
  /** By the clock of the door. */
  now: () => number;
  /** True if its agent knows events without data, which give it an id to come back with. */
  isPrimed: () => boolean;
  /** How long its agent should wait before it comes back. Milliseconds. */
  retryMs: number;
  /** A connection is closed after so long; the agent comes back. Milliseconds, 0 for never. */
  pollAfterMs: number;
  /** True if it ends with the answer to a request. */
  hasAnswer: boolean;
}

/** An agent that is to come back after some time has come after this many times that, or is away for longer. */
const returnsIn = 3;

/**
 * A stream of messages that outlives its connections: each message has an id, and what an agent has not got is sent again when it comes
 * back with the last id that it saw. What is not kept any more is said in its place.
 */
export class ResumableStream implements AnswerStream {
  readonly #options: ResumableStreamOptions;
  readonly #kept: SentEvent[] = [];
  /** What the dropped events were, by the last of their numbers. */
  readonly #dropped = { lastNumber: 0, lists: new Set<string>(), answers: [] as RpcId[], isBatch: false };
  #lastNumber = 0;
  #connection: EventStream | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #hasEnded = false;
  #onResumed: (() => void) | undefined;
  /** When it was last connected or written to. */
  lastUsed: number;
  readonly hasAnswer: boolean;

  constructor(options: ResumableStreamOptions) {
    this.#options = options;
    this.lastUsed = options.now();
    this.hasAnswer = options.hasAnswer;
  }

  /** True while somebody is there to read it. */
  get isOpen(): boolean {
    return this.#connection?.isOpen === true;
  }

  get isFull(): boolean {
    return this.isOpen && this.#connection?.isFull === true;
  }

  /** True until it has ended: without a connection what is sent is kept. */
  get takesMore(): boolean {
    return !this.#hasEnded;
  }

  /** True if nobody reads it, and nothing is to come on it that an agent waits for. */
  get isLeft(): boolean {
    return !this.isOpen && (this.#hasEnded || !this.hasAnswer);
  }

  /** True while its agent is expected to come back for the answer. */
  get isAwaited(): boolean {
    return this.#onResumed !== undefined;
  }

  /** True if an event of that number, or 0, was sent on it under that id. */
  has(number: number, eventId: string): boolean {
    return number <= this.#lastNumber && this.#options.ids.of(number) === eventId;
  }

  /**
   * Goes on, on this connection, with what comes after the event of that number. The connection before is cut: an agent that opens many
   * and reads none has no more than one for each stream.
   */
  connect(response: ServerResponse, { headers, keepAliveMs, maxUnsentBytes }: HttpEventStreamOptions, after = this.#lastNumber): void {
    this.cut();
    const connection = new EventStream(response, { headers, heartbeatMs: keepAliveMs, maxUnsentBytes });
    this.#connection = connection;
    connection.open();
    if (this.#options.isPrimed()) this.#prime(connection, after);
    if (after < this.#dropped.lastNumber) this.#tellDropped(connection, this.#dropped.lastNumber - after);
    for (const { number, data } of this.#kept) if (number > after) connection.send('message', data, this.#options.ids.of(number));
    if (this.#hasEnded) this.disconnect();
    this.#onResumed?.();
    this.lastUsed = this.#options.now();
  }

  /** Sends a message, or keeps it for the agent that comes back. Throws `message_too_deep`. */
  send(message: unknown): void {
    if (this.#hasEnded) return;
    const data = printFrameInPieces(message);
    const number = ++this.#lastNumber;
    this.lastUsed = this.#options.now();
    const content = contentOf(message);
    if (content.answers.length > 0) this.#options.ids.answeredAt(number);
    const event = { number, data, bytes: byteLengthOf(data), sentAt: this.lastUsed, onDropped: () => this.#drop(content) };
    this.#kept.push(event);
    this.#connection?.send('message', data, this.#options.ids.of(number));
    this.#options.sent.add(event);
  }

  /** Nothing more comes on it. What was sent may still be asked for. `retryMs`: when its agent may come back, if not as usual. Ending twice is harmless. */
  end(retryMs?: number): void {
    if (retryMs !== undefined && this.isOpen && this.#options.isPrimed())
      this.#connection?.prime(this.#options.ids.of(this.#lastNumber), retryMs);
    this.#hasEnded = true;
    this.disconnect();
    this.#onResumed?.();
  }

  /** Calls back when its agent has come back, or would have, or will not. */
  awaitAgent(done: () => void): void {
    const finish = (): void => {
      clearTimeout(timer);
      this.#onResumed = undefined;
      done();
    };
    const timer = setTimeout(finish, returnsIn * this.#options.retryMs).unref();
    this.#onResumed = finish;
  }

  /** Ends the connection; the agent may come back. */
  disconnect(): void {
    clearTimeout(this.#pollTimer);
    this.#connection?.end();
  }

  /** Cuts the connection: what waits there is sent to an agent that comes back. */
  cut(): void {
    clearTimeout(this.#pollTimer);
    this.#connection?.cut();
  }

  /** An event without data: from now on the agent can come back, whatever happens. */
  #prime(connection: EventStream, number: number): void {
    const { retryMs, pollAfterMs } = this.#options;
    connection.prime(this.#options.ids.of(number), retryMs);
    if (pollAfterMs > 0 && !this.#hasEnded) this.#pollTimer = setTimeout(() => connection.end(), pollAfterMs).unref();
  }

  #drop({ answers, isBatch, list }: Content): void {
    const dropped = this.#dropped;
    dropped.lastNumber = this.#kept.shift()?.number ?? dropped.lastNumber;
    appendAll(dropped.answers, answers);
    dropped.isBatch ||= isBatch;
    if (list !== undefined && dropped.lists.size < 100) dropped.lists.add(list);
  }

  /** An agent that has missed something is told what: nobody is to be wrong without knowing it. */
  #tellDropped(connection: EventStream, count: number): void {
    const { lists, answers, isBatch, lastNumber } = this.#dropped;
    const tell = (message: unknown): void => connection.send('message', printFrameInPieces(message), this.#options.ids.of(lastNumber));
    if (answers.length > 0) {
      const lost = answers.map((id) => toErrorAnswer(id, lostAnswer()));
      return tell(isBatch ? lost : lost[0]);
    }
    const unread = new UnreadNotifications();
    for (const method of lists) unread.add(method);
    unread.add('', count);
    for (const { method, params } of unread.takeAll()) tell(toNotification(method, params));
  }
}

/** What has to be said of a message once it is dropped. */
interface Content {
  /** The requests that it answers. */
  answers: readonly RpcId[];
  isBatch: boolean;
  /** The list that it says has changed. */
  list: string | undefined;
}

function contentOf(message: unknown): Content {
  const isBatch = Array.isArray(message);
  const each = (isBatch ? message : [message]).filter(isJsonObject);
  const answers = each.flatMap(({ id, method }) => (method === undefined && isRpcId(id) ? [id] : []));
  const [{ method } = {}] = each;
  return { answers, isBatch, list: typeof method === 'string' && method.endsWith('/list_changed') ? method : undefined };
}

function lostAnswer(): BridgeError {
  return new BridgeError(
    'limit_reached',
    'The call has ended, but its answer was not fetched in time, or was too large to be kept. Look at what it did before you call again.',
  );
}

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
