import type { ServerResponse } from 'node:http';
import type { TraceHeaders } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { toTraceHeaders } from '@notebridge/protocol/core/request-context';
import { printFrameInPieces } from '@notebridge/protocol/rpc/messages';
import { CallTimeouts } from '@notebridge/protocol/rpc/waiting-calls';
import type { CallsUnderWay } from '../http/calls-under-way.js';
import { sendEmpty, sendJson } from '../http/http-context.js';
import type { HttpCall, McpHttpLimits } from './http-call.js';
import { type AnswerStream, type HttpEventStreamOptions, openEventStream } from './http-event-stream.js';

export interface HttpExchangeOptions {
  call: HttpCall;
  limits: Pick<McpHttpLimits, 'keepAliveMs' | 'maxUnsentBytes'>;
  /** Where it counts as under way until it is answered, or its connection closes. */
  calls: CallsUnderWay;
  /** Its call goes on without the connection: it counts until it is answered, and for a moment more if its agent is away then. Default false. */
  isLasting?: boolean;
  /** Opens the stream that it may become. Default: one that ends with its connection. */
  openStream?: (response: ServerResponse, options: HttpEventStreamOptions) => AnswerStream;
  /** The connection closed before the answer, or all calls are cancelled. */
  onGone?: () => void;
}

/** One clock for all: a timer for each would be the most expensive part of a short call. */
const timeouts = new CallTimeouts();

/**
 * One POST that waits for an answer. If the answer is the first thing to be sent it is plain JSON; if a notification comes
 * first, or nothing for so long that a client might give up, it becomes a stream that ends with the answer.
 */
export class HttpExchange {
  readonly #options: HttpExchangeOptions;
  readonly #underWay = new Cancellation();
  readonly #timeout: { end(): void } | undefined;
  #running: Set<Cancellation> | undefined;
  #stopListening: (() => void) | undefined;
  #stream: AnswerStream | undefined;

  constructor(options: HttpExchangeOptions) {
    this.#options = options;
    const { call, calls, isLasting = false, limits, onGone } = options;
    if (call.accepted.eventStream) this.#timeout = timeouts.start(limits.keepAliveMs, () => this.#open());
    this.#running = isLasting ? calls.addLasting(this.#underWay) : calls.add(call.request.socket, this.#underWay);
    this.#stopListening = this.#underWay.onCancel(() => {
      this.#release();
      onGone?.();
    });
    if (isLasting) return;
    // This comes before the connection's own end is reported.
    call.response.once('close', () => {
      if (!call.response.writableFinished) this.#underWay.cancel('The agent closed the connection.');
      this.#release();
    });
  }

  /** The trace that its request belongs to. */
  get trace(): TraceHeaders | undefined {
    return toTraceHeaders(this.#options.call.request.headers);
  }

  /** False once it was answered, or the agent hung up and has not come back. */
  get isOpen(): boolean {
    return this.#stream?.isOpen ?? isWritable(this.#options.call.response);
  }

  /** True if notifications can be sent before the answer, or are kept for an agent that comes back. */
  get takesNotifications(): boolean {
    return this.#stream?.takesMore ?? (this.#options.call.accepted.eventStream && this.isOpen);
  }

  /** True if a reader is so slow that nothing should be added but the answer. */
  get isFull(): boolean {
    return this.#stream?.isFull === true;
  }

  /** Sends a notification ahead of the answer. Only if `takesNotifications`. */
  notify(message: unknown): void {
    this.#open()?.send(message);
  }

  /** Ends it with the answer. `status`: for an answer that is plain JSON. Throws `message_too_deep`, and can be answered again. */
  answer(message: unknown, status = 200): void {
    const { accepted, response, headers } = this.#options.call;
    const stream = accepted.json ? this.#stream : this.#open();
    const isAway = stream?.isOpen === false;
    if (stream === undefined) sendJson(response, status, printFrameInPieces(message), headers);
    else {
      stream.send(message);
      stream.end();
    }
    if (isAway && stream?.awaitAgent !== undefined) stream.awaitAgent(() => this.#release());
    else this.#release();
  }

  /** Ends it without an answer: what was asked has been cancelled. */
  finish(): void {
    const { response, headers } = this.#options.call;
    if (this.#stream === undefined) sendEmpty(response, 202, headers);
    else this.#stream.end();
    this.#release();
  }

  /** Cuts the connection. */
  cut(): void {
    this.#options.call.response.destroy();
  }

  #open(): AnswerStream | undefined {
    const { call, limits, openStream = openEventStream } = this.#options;
    this.#timeout?.end();
    if (this.#stream === undefined && this.isOpen) this.#stream = openStream(call.response, { ...limits, headers: call.headers });
    return this.#stream;
  }

  #release(): void {
    this.#timeout?.end();
    if (this.#running === undefined) return;
    this.#options.calls.remove(this.#running, this.#underWay);
    this.#running = undefined;
    // A set may hold for long what was taken out of it; then it holds nothing else.
    this.#stopListening?.();
  }
}

function isWritable({ destroyed, writableEnded }: ServerResponse): boolean {
  return !destroyed && !writableEnded;
}
