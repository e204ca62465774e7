import type { JsonObject } from '@notebridge/kit/json';
import type { CallContext } from '../core/call-context.js';
import { BridgeError, codeOf } from '../core/errors.js';
import type { PeerRequestOptions } from '../rpc/peer.js';
import { fromFaultAnswer } from './link.js';
import type { ServerInstance } from './server-instance.js';
import type { UpstreamSession } from './upstream-session.js';
import { WaitQueue } from './wait-queue.js';

export interface CallLimits {
  /** Calls that run at once on one server; further ones wait in a queue. */
  maxInFlight: number;
  /** How long a call may take, from its turn on and without progress. Milliseconds. */
  timeoutMs: number;
  /** Without a call for so long, the server is stopped; the next call starts it. Milliseconds; undefined: never. */
  idleMs: number | undefined;
}

/** One call: what is asked, by whom, and whether it may be asked twice. */
export interface ServerCall {
  method: string;
  params: JsonObject;
  context: CallContext;
  /** It changes nothing, or doing it twice is doing it once. */
  isRepeatable: boolean;
}

/** As many calls as run at once may wait four times over. */
const waitingPerRunning = 4;

/** The calls to one running server: how many at once, the queue, and what becomes of them when the server goes. */
export class ServerCalls {
  limits: CallLimits;
  readonly #instance: ServerInstance;
  readonly #line = new WaitQueue<void>();
  #running = 0;
  #waiting = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(instance: ServerInstance, limits: CallLimits) {
    this.#instance = instance;
    this.limits = limits;
  }

  get inFlight(): number {
    return this.#running;
  }

  /** No call runs, and none waits. */
  get isIdle(): boolean {
    return this.#running + this.#waiting === 0;
  }

  /** Makes a call. While the server runs and is not busy this costs no more than the request itself. */
  request(call: ServerCall): Promise<JsonObject> {
    const { session } = this.#instance;
    if (session === undefined || this.#running >= this.limits.maxInFlight) return this.#requestInTurn(call, true);
    this.#running++;
    return this.#send(session, call, true);
  }

  /** `this.#running` counts the call already. */
  #send(session: UpstreamSession, call: ServerCall, mayRepeat: boolean): Promise<JsonObject> {
    const { context } = call;
    const options: PeerRequestOptions = { cancellation: context.cancellation, timeoutMs: this.limits.timeoutMs };
    if (context.wantsProgress) options.onProgress = (progress) => context.forwardProgress(progress);
    return session.request(call.method, call.params, options).then(
      (result) => {
        this.#end();
        return result;
      },
      (error: unknown) => {
        this.#end();
        return this.#fail(call, fromFaultAnswer(error), mayRepeat);
      },
    );
  }

  /** A call that its server did not survive is made once more, if it never arrived there or does no harm twice. */
  #fail(call: ServerCall, error: unknown, mayRepeat: boolean): Promise<JsonObject> {
    if (!mayRepeat || !(error instanceof BridgeError) || error.code !== 'upstream_unavailable') throw error;
    if (!call.isRepeatable && error.data.ran !== 'no') throw error;
    return this.#requestInTurn(call, false).catch((second: unknown) => {
      // That it can't be reached any more says less than what became of the call.
      throw codeOf(second) === 'upstream_unavailable' ? error : second;
    });
  }

  /** Waits for its turn and for the server, whichever comes last. */
  async #requestInTurn(call: ServerCall, mayRepeat: boolean): Promise<JsonObject> {
    if (this.#waiting >= waitingPerRunning * this.limits.maxInFlight) throw this.#busy();
    this.#waiting++;
    let session: UpstreamSession;
    try {
      session = await this.#takeTurn(call);
    } finally {
      this.#waiting--;
    }
    return this.#send(session, call, mayRepeat);
  }

  async #takeTurn({ context: { cancellation } }: ServerCall): Promise<UpstreamSession> {
    for (;;) {
      await this.#instance.ready(cancellation);
      const { maxInFlight, timeoutMs } = this.limits;
      // A call that ends hands its place on directly, so no other slips in between.
      if (this.#running < maxInFlight) this.#running++;
      else await this.#line.wait({ cancellation, timeoutMs, onTimeout: () => noTurn(timeoutMs) });
      const { session } = this.#instance;
      if (session !== undefined) return session;
      // It went while we waited for our turn.
      this.#end();
    }
  }

  #end(): void {
    if (this.#line.settleFirst()) return;
    this.#running--;
    if (this.#running === 0 && this.limits.idleMs !== undefined) this.#watchIdleness(this.limits.idleMs);
  }

  /** One timer for all pauses between calls: making one per call would cost each of them. */
  #watchIdleness(idleMs: number): void {
    if (this.#idle !== undefined) {
      this.#idle.refresh();
      return;
    }
    this.#idle = setTimeout(() => {
      this.#idle = undefined;
      // A call that comes in just now asks again when it is done.
      if (this.isIdle) void this.#instance.stop(`no call in ${idleMs} ms`);
    }, idleMs).unref();
  }

  #busy(): BridgeError {
    const { maxInFlight } = this.limits;
    return new BridgeError(
      'limit_reached',
      `${maxInFlight} calls run on this server ("maxInFlight" of its config) and ${this.#waiting} wait; wait for some to end.`,
    );
  }
}

function noTurn(timeoutMs: number): BridgeError {
  return new BridgeError('timeout', `The server was so busy that the call did not get its turn within ${timeoutMs} ms. It was not sent.`);
}
