import type { Cancellation } from '../core/cancellation.js';
import { BridgeError, RemoteError } from '../core/errors.js';
import { ExactNumber, isJsonObject, type JsonObject } from '../json.js';
import { quote } from '../util/quote.js';
import { CallTable } from './call-table.js';
import { Call, type RpcAnswer, toNotification } from './messages.js';

export interface PeerRequestOptions {
  /** When cancelled, the other side is notified and the request fails with `cancelled`. */
  cancellation?: Cancellation | undefined;
  /** Ends the wait with `timeout`; progress starts it anew. Milliseconds. Default: none, the connection's end is the bound. */
  timeoutMs?: number | undefined;
  /** How long the other side has had the call in its hands since it last waited for us: 0 while it does. Less than the timeout starts that anew. */
  workedMs?: (() => number) | undefined;
  /** Called with the params of each progress notification, token included, in order and always before the answer. */
  onProgress?: ((params: JsonObject) => void) | undefined;
  /** True for an answer after which progress of the call goes on (a task that it began). Default: for none. */
  outlives?: ((result: JsonObject) => boolean) | undefined;
  /** Takes the request, and the notification that it is cancelled. False to have it sent like any other. May throw why it can't be sent. */
  via?: ((message: JsonObject) => boolean) | undefined;
}

/** How calls reach the other side. */
export interface CallSender {
  /** Throws if the message cannot be sent. */
  send(message: JsonObject): void;
  /** Never throws: what cannot be sent is dropped. */
  notify(method: string, params: JsonObject): void;
}

interface WaitingCall {
  id: number;
  via: PeerRequestOptions['via'];
  resolve: (result: JsonObject) => void;
  reject: (error: unknown) => void;
  onProgress: ((params: JsonObject) => void) | undefined;
  outlives: ((result: JsonObject) => boolean) | undefined;
  timeout: CallTimeout | undefined;
  stopListening: (() => void) | undefined;
}

const cancelled = 'notifications/cancelled';

/** Calls that are answered and whose progress is still passed on; when they are over is not known here, so the oldest give way. */
const maxOutliving = 256;

/** Calls of ours that wait for an answer. Their ids count up from the one behind `lastId`, and are their progress tokens too. */
export class WaitingCalls {
  readonly #sender: CallSender;
  readonly #calls = new CallTable<WaitingCall>();
  readonly #timeouts = new CallTimeouts();
  readonly #outliving = new Map<number, (params: JsonObject) => void>();
  #lastId: number;

  constructor(sender: CallSender, lastId = 0) {
    this.#sender = sender;
    this.#lastId = lastId;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Rejects with `RemoteError`, or a `BridgeError` `cancelled`, `timeout` or the error given to `rejectAll`. */
  request(
    method: string,
    params: JsonObject | undefined,
    { cancellation, timeoutMs, workedMs, onProgress, outlives, via }: PeerRequestOptions,
  ): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (cancellation?.reason !== undefined)
        return reject(new BridgeError('cancelled', `Cancelled before "${method}" was sent: ${cancellation.reason}`));
      const id = ++this.#lastId;
      const call: WaitingCall = { id, via, resolve, reject, onProgress, outlives, timeout: undefined, stopListening: undefined };
      this.#calls.add(id, call);
      if (timeoutMs !== undefined) {
        const giveUp = (): void => {
          if (workedMs !== undefined && workedMs() < timeoutMs) call.timeout = this.#timeouts.start(timeoutMs, giveUp);
          else this.#abandon(id, new BridgeError('timeout', `No answer to "${method}" within ${timeoutMs} ms.`));
        };
        call.timeout = this.#timeouts.start(timeoutMs, giveUp);
      }
      call.stopListening = cancellation?.onCancel((reason) =>
        this.#abandon(id, new BridgeError('cancelled', `"${method}" was cancelled: ${reason}`), reason),
      );
      const sent = onProgress === undefined ? params : withProgressToken(params, id);
      try {
        const message = new Call(id, method, sent);
        if (via?.(message) !== true) this.#sender.send(message);
      } catch (error) {
        // It cannot be printed or queued, so no answer can ever come.
        this.#take(id)?.reject(error);
      }
    });
  }

  /** Delivers an answer to the call that waits for it. False if there is none. */
  settle({ id, result, error }: RpcAnswer): boolean {
    const call = this.#take(toOwnId(id));
    if (call === undefined) return false;
    if (error !== undefined && isJsonObject(error)) call.reject(new RemoteError(error));
    else if (isJsonObject(result)) {
      if (call.onProgress !== undefined && call.outlives?.(result) === true) this.#keepProgress(toOwnId(id), call.onProgress);
      call.resolve(result);
    } else
      call.reject(new BridgeError('bad_message', `The answer's "result" or "error" must be an object, found ${quote(result ?? error)}.`));
    return true;
  }

  /** Hands progress to whose it is. That of a call which has ended is late, not wrong. */
  progress(params: JsonObject): void {
    const id = toOwnId(params.progressToken);
    const call = this.#calls.get(id);
    call?.timeout?.renew();
    if (call === undefined) this.#outliving.get(id)?.(params);
    else call.onProgress?.(params);
  }

  /** Ends all with the error, and notifies the other side of each. */
  abandonAll(error: Error): void {
    for (const { id } of this.#calls.all()) this.#abandon(id, error);
  }

  rejectAll(error: Error): void {
    this.#outliving.clear();
    for (const call of this.#calls.takeAll()) {
      release(call);
      call.reject(error);
    }
  }

  #keepProgress(id: number, onProgress: (params: JsonObject) => void): void {
    this.#outliving.set(id, onProgress);
    const [oldest] = this.#outliving.keys();
    if (this.#outliving.size > maxOutliving && oldest !== undefined) this.#outliving.delete(oldest);
  }

  #take(id: number): WaitingCall | undefined {
    const call = this.#calls.take(id);
    if (call !== undefined) release(call);
    return call;
  }

  /** Stops waiting and notifies the other side, which may stop working. */
  #abandon(id: number, error: Error, reason = error.message): void {
    const call = this.#take(id);
    if (call === undefined) return;
    const params = { requestId: id, reason };
    if (call.via?.(toNotification(cancelled, params)) !== true) this.#sender.notify(cancelled, params);
    call.reject(error);
  }
}

function release({ timeout, stopListening }: WaitingCall): void {
  timeout?.end();
  stopListening?.();
}

/** A peer that prints every number as a float answers 1 with 1.0; "1" is not ours. */
function toOwnId(id: unknown): number {
  return typeof id === 'number' || id instanceof ExactNumber ? Number(id) : Number.NaN;
}

function withProgressToken(params: JsonObject | undefined, progressToken: number): JsonObject {
  const meta = isJsonObject(params?._meta) ? params._meta : {};
  return { ...params, _meta: { ...meta, progressToken } };
}

/** A running timeout. */
export interface CallTimeout {
  /** Starts the whole time again. */
  renew(): void;
  /** Clears the timeout. Ending it twice is harmless. */
  end(): void;
}

/** Waits shorter than this end to the millisecond, longer ones up to a second late. Milliseconds. */
const longMs = 10_000;
const tickMs = 1000;

/**
 * Timeouts of calls that come by the thousand and end in a moment. A timer for each would cost more than most of what a peer does
 * for a call; so all long waits share one clock that ticks once a second. It does not keep the process alive: the connection does.
 */
export class CallTimeouts {
  /** Those that wait, in a ring that this one closes. A set of ever new members would make garbage. */
  readonly #ring = new LongTimeout(0, () => {});
  #clock: NodeJS.Timeout | undefined;

  /** Calls back once when the time is over, and never early. */
  start(timeoutMs: number, onOver: () => void): CallTimeout {
    if (timeoutMs < longMs) return startTimer(timeoutMs, onOver);
    const timeout = new LongTimeout(timeoutMs, onOver, this.#ring);
    this.#clock ??= setInterval(() => this.#tick(), tickMs).unref();
    return timeout;
  }

  #tick(): void {
    const over: LongTimeout[] = [];
    for (let timeout = this.#ring.next; timeout !== this.#ring; timeout = timeout.next) {
      if (timeout.isOverAfterTick()) over.push(timeout);
    }
    for (const timeout of over) timeout.callBack();
    if (this.#ring.next !== this.#ring) return;
    clearInterval(this.#clock);
    this.#clock = undefined;
  }
}

function startTimer(timeoutMs: number, onOver: () => void): CallTimeout {
  const timer = setTimeout(onOver, timeoutMs);
  return { renew: () => void timer.refresh(), end: () => clearTimeout(timer) };
}

class LongTimeout implements CallTimeout {
  next: LongTimeout = this;
  #before: LongTimeout = this;
  readonly #ticks: number;
  #left: number;
  readonly #onOver: () => void;

  /** Without a ring it is one. */
  constructor(timeoutMs: number, onOver: () => void, ring?: LongTimeout) {
    // One more, since the tick that comes first may come at once.
    this.#ticks = this.#left = Math.ceil(timeoutMs / tickMs) + 1;
    this.#onOver = onOver;
    if (ring === undefined) return;
    this.next = ring;
    this.#before = ring.#before;
    ring.#before.next = this;
    ring.#before = this;
  }

  isOverAfterTick(): boolean {
    return --this.#left <= 0;
  }

  /** Unless it was ended meanwhile. */
  callBack(): void {
    if (this.next === this) return;
    this.end();
    this.#onOver();
  }

  renew(): void {
    this.#left = this.#ticks;
  }

  end(): void {
    this.#before.next = this.next;
    this.next.#before = this.#before;
    this.next = this.#before = this;
  }
}
