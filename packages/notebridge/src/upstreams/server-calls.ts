import type { CallContext, Caller } from '@notebridge/protocol/core/call-context';
import { BridgeError, codeOf, RemoteError } from '@notebridge/protocol/core/errors';
import type { LogLevels } from '@notebridge/protocol/core/log-levels';
import { isInputRequired, mayAskIn } from '@notebridge/protocol/core/questions';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { AskedCalls, SentCall } from '@notebridge/protocol/questions/asked-calls';
import { CallTurns } from '@notebridge/protocol/questions/call-turns';
import type { ShownUrls } from '@notebridge/protocol/questions/shown-urls';
import { envelopeKeys } from '@notebridge/protocol/rpc/modern-envelope';
import type { PeerRequestOptions } from '@notebridge/protocol/rpc/peer';
import { WaitQueue } from '@notebridge/protocol/rpc/wait-queue';
import type { FollowedCall, OutgoingCall } from '../telemetry/outgoing-calls.js';
import { isUrlsRequired, takeInputRequired, takeUrlsRequired } from './input-required.js';
import { fromFaultAnswer } from './link.js';
import type { ServerInstance } from './server-instance.js';
import { agentKeyOf, type Stalls } from './stalls.js';
import type { UpstreamSession } from './upstream-session.js';

export interface CallLimits {
  /** Calls that run at once on one server; further ones wait in a queue. */
  maxInFlight: number;
  /** False: the server is told of no caller that it can be asked anything. */
  mayAsk: boolean;
  /** Calls that may wait for their turn. */
  maxWaiting: number;
  /** How long a call may take, from its turn on and without progress. Milliseconds. */
  timeoutMs: number;
  /** How long an agent may take to answer what the server asks. Milliseconds. */
  answerTimeoutMs: number;
  /** How long the server may take to answer a call that was given up, before it is started anew: it could ask the next caller. Milliseconds. */
  cancelledCallMs: number;
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
  /** How often it has been made before, since its server asked something first. */
  rounds?: number;
}

/** Agents that have not said which log lines they want get these of a server that sends none unasked. */
const usualLevel = 'info';
/** Doors of those who are sent log lines at all. */
const agentDoors = new Set<Caller['door']>(['stdio', 'http', 'library']);

/** A request as it is sent, whichever server it goes to. */
export type SentRequest = Omit<OutgoingCall, 'server' | 'url'>;

export interface ServerCallsOptions {
  limits: CallLimits;
  /** Which log lines agents want. */
  levels: LogLevels;
  asked: AskedCalls | undefined;
  /** Which of the server's URLs agents were shown. */
  urls: ShownUrls;
  /** Which agents have kept it from the others. Left out: it has one alone. */
  stalls?: Stalls | undefined;
  /** Follows each request, also one that is sent again. Left out: nobody does. */
  follow?: ((sent: SentRequest) => FollowedCall | undefined) | undefined;
}

/** The calls to one running server: how many at once, the queue, and what becomes of them when the server goes. */
export class ServerCalls {
  limits: CallLimits;
  readonly urls: ShownUrls;
  readonly #instance: ServerInstance;
  readonly #name: string;
  readonly #asked: AskedCalls | undefined;
  readonly #line = new WaitQueue<void>();
  readonly #turns = new CallTurns();
  readonly #stalls: Stalls | undefined;
  /** Calls that wait, by whose they are. */
  readonly #waitingOf = new Map<string, number>();
  readonly #levels: LogLevels;
  readonly #follow: ServerCallsOptions['follow'];
  readonly #contexts = new Set<CallContext>();
  #running = 0;
  #waiting = 0;
  #idle: NodeJS.Timeout | undefined;

  /** `asked`: left out, a server of the legacy era can ask nothing in its calls. */
  constructor(name: string, instance: ServerInstance, { limits, levels, asked, urls, stalls, follow }: ServerCallsOptions) {
    this.#follow = follow;
    this.#stalls = stalls;
    this.#name = name;
    this.#asked = asked;
    this.urls = urls;
    this.#instance = instance;
    this.#levels = levels;
    this.limits = limits;
  }

  get inFlight(): number {
    return this.#running;
  }

  /** The calls that run just now. */
  get callIds(): string[] {
    return [...this.#contexts].map(({ callId }) => callId);
  }

  /** No call runs, and none waits. */
  get isIdle(): boolean {
    return this.#running + this.#waiting === 0;
  }

  /** Makes a call. While the server runs and is not busy this costs no more than the request itself. */
  request(call: ServerCall): Promise<JsonObject> {
    const { session } = this.#instance;
    if (this.#asked !== undefined && call.params.requestState !== undefined && session?.handshake.era === 'legacy')
      return this.#asked.resume(call);
    const refusal = this.#stalls?.refusalOf(call.context.caller);
    if (refusal !== undefined) return Promise.reject(refusal);
    if (session === undefined || this.#running >= this.limits.maxInFlight) return this.#requestInTurn(call, true);
    this.#running++;
    return this.#send(session, call, true);
  }

  /** `this.#running` counts the call already. */
  #send(session: UpstreamSession, call: ServerCall, mayRepeat: boolean): Promise<JsonObject> {
    const { context } = call;
    this.#contexts.add(context);
    const options: PeerRequestOptions = { cancellation: context.cancellation, timeoutMs: this.limits.timeoutMs };
    const isLegacy = session.handshake.era === 'legacy';
    if (context.wantsProgress) {
      options.onProgress = (progress) => context.forwardProgress(progress);
      if (isLegacy && call.params.task !== undefined) options.outlives = ({ task }) => isJsonObject(task);
    }
    const asked = isLegacy && mayAskIn.has(call.method) ? this.#asked : undefined;
    if (asked === undefined) return this.#exchange(session, call, { options, mayRepeat });
    if (!asked.mayAsk(context)) {
      const stopCounting = asked.countUnattended();
      return this.#exchange(session, call, { options, mayRepeat }).finally(stopCounting);
    }
    const send = (more: PeerRequestOptions): Promise<JsonObject> =>
      this.#exchange(session, call, { options: { ...options, ...more }, mayRepeat });
    return asked.takesTurns ? this.#sendInTurn(asked, { ...call, send }) : asked.run({ ...call, send });
  }

  /** A turn ends with the call at the server, not with what its caller is answered. One that was given up keeps it for a while, since it may ask on. */
  async #sendInTurn(asked: AskedCalls, call: SentCall): Promise<JsonObject> {
    const { cancellation, caller } = call.context;
    const { timeoutMs, cancelledCallMs } = this.limits;
    const end = await this.#turns.take({ who: agentKeyOf(caller), cancellation, timeoutMs }).catch((error: unknown) => {
      this.#end(call.context);
      throw error;
    });
    const endLater = (error: unknown): void => void (isGivenUp(error) ? setTimeout(end, cancelledCallMs).unref() : end());
    const send: SentCall['send'] = (...how) => {
      const sent = call.send(...how);
      sent.then(end, endLater);
      return sent;
    };
    return asked.run({ ...call, send });
  }

  /** Not followed, which is usual, it costs no more than the request. */
  #exchange(
    session: UpstreamSession,
    call: ServerCall,
    { options, mayRepeat }: { options: PeerRequestOptions; mayRepeat: boolean },
  ): Promise<JsonObject> {
    const { method, context } = call;
    const { era, protocolVersion } = session.handshake;
    const isModern = era === 'modern';
    const params = isModern ? this.#toModernParams(session, call) : call.params;
    const followed = this.#follow?.({ callId: context.callId, method, params, protocolVersion });
    const sent = session.request(method, followed?.params ?? params, options, isModern ? this.#declaredOf(call) : undefined);
    return (followed === undefined ? sent : followed.until(sent)).then(
      (result) => {
        this.#end(context);
        return isModern && isInputRequired(result) ? this.#takeInputRequired(call, result) : result;
      },
      (error: unknown) => {
        if (this.#asked !== undefined && isGivenUp(error)) this.#endLater(session, context, codeOf(error) === 'cancelled');
        else this.#end(context);
        if (error instanceof RemoteError && isUrlsRequired(error)) {
          this.urls.noteError(error.raw, context.caller.sessionId);
          return takeUrlsRequired(error, { context, server: this.#name });
        }
        return this.#fail(call, fromFaultAnswer(error), mayRepeat);
      },
    );
  }

  /** A call that nobody waits for any more keeps its place until the server is done with it: it might ask, and the next caller be meant. */
  #endLater(session: UpstreamSession, context: CallContext, isCancelled: boolean): void {
    this.#contexts.delete(context);
    const { cancelledCallMs } = this.limits;
    void this.#asked?.hold(cancelledCallMs).then(async (isSettled) => {
      if (!isSettled && this.#instance.session === session) {
        if (isCancelled) this.#stalls?.note(context.caller);
        await this.#instance.stop(`it did not answer a cancelled call within ${cancelledCallMs} ms, and could have asked another caller`);
        void this.#instance.start();
      }
      this.#end();
    });
  }

  /** What a server of the modern era is told that its caller can do. */
  #declaredOf({ context: { clientCapabilities } }: ServerCall): JsonObject | undefined {
    if (this.limits.mayAsk || clientCapabilities?.extensions === undefined) return this.limits.mayAsk ? clientCapabilities : undefined;
    return { extensions: clientCapabilities.extensions };
  }

  /** The server asks something first. While that is found out, the call takes no one's place. */
  #takeInputRequired(call: ServerCall, result: JsonObject): Promise<JsonObject> {
    const { context, params, rounds = 1 } = call;
    const retry = (answered: JsonObject): Promise<JsonObject> => this.request({ ...call, params: answered, rounds: rounds + 1 });
    const askable = this.#declaredOf(call);
    return takeInputRequired(result, {
      server: this.#name,
      context,
      askable,
      params,
      rounds,
      timeoutMs: this.limits.answerTimeoutMs,
      retry,
    });
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
    const who = agentKeyOf(call.context.caller);
    const own = this.#waitingOf.get(who) ?? 0;
    // Who has no call waiting has a place though others have taken all.
    if (this.#waiting >= this.limits.maxWaiting && own > 0) throw this.#busy();
    this.#waiting++;
    this.#waitingOf.set(who, own + 1);
    let session: UpstreamSession;
    try {
      session = await this.#takeTurn(call, who);
    } finally {
      this.#waiting--;
      const left = (this.#waitingOf.get(who) ?? 1) - 1;
      if (left > 0) this.#waitingOf.set(who, left);
      else this.#waitingOf.delete(who);
    }
    return this.#send(session, call, mayRepeat);
  }

  async #takeTurn({ context: { cancellation, caller } }: ServerCall, who: string): Promise<UpstreamSession> {
    for (;;) {
      await this.#instance.ready(cancellation);
      const { maxInFlight, timeoutMs } = this.limits;
      // A call that ends hands its place on directly, so no other slips in between.
      if (this.#running < maxInFlight) this.#running++;
      else await this.#line.wait({ who, cancellation, timeoutMs, onTimeout: () => noTurn(timeoutMs) });
      const { session } = this.#instance;
      // The agent may have stalled the server while this call of it waited.
      const refusal = this.#stalls?.refusalOf(caller);
      if (refusal === undefined && session !== undefined) return session;
      // It went while we waited for our turn.
      this.#end();
      if (refusal !== undefined) throw refusal;
    }
  }

  /** A caller of the legacy era has said once for all which log lines it wants; a server of the modern era is told it in each call. */
  #toModernParams(session: UpstreamSession, { params, context: { caller } }: ServerCall): JsonObject {
    if (caller.era === 'modern' || !session.can('logging') || !agentDoors.has(caller.door)) return params;
    const meta = isJsonObject(params._meta) ? params._meta : {};
    const level = this.#levels.of(caller.sessionId) ?? usualLevel;
    return { ...params, _meta: { ...meta, [envelopeKeys.logLevel]: level } };
  }

  #end(context?: CallContext): void {
    if (context !== undefined) this.#contexts.delete(context);
    if (this.#waiting > 0 && this.#line.settleFirst()) return;
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

function isGivenUp(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'cancelled' || code === 'timeout';
}

function noTurn(timeoutMs: number): BridgeError {
  return new BridgeError('timeout', `The server was so busy that the call did not get its turn within ${timeoutMs} ms. It was not sent.`);
}
