import { randomBytes, randomUUID } from 'node:crypto';
import type { Caller } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { codeOf, errorTable, headerMismatchCode } from '@notebridge/protocol/core/errors';
import { type Principal, principalKey } from '@notebridge/protocol/core/principal';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import { RequestContext, type RequestContextOptions, toTraceHeaders } from '@notebridge/protocol/core/request-context';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { ResultAnswer, type RpcNotification, type RpcRequest, toErrorAnswer, toNotification } from '@notebridge/protocol/rpc/messages';
import { envelopeOf } from '@notebridge/protocol/rpc/modern-envelope';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Hub } from '../../hub.js';
import { nameOfClient, type WatchedAgent } from '../../recent/watched-agents.js';
import { CallsUnderWay, mostOfOne } from '../http/calls-under-way.js';
import { sendEmpty } from '../http/http-context.js';
import type { HttpCall, McpHttpLimits } from './http-call.js';
import { HttpExchange } from './http-exchange.js';
import { fault, type HttpFault, tooMany } from './http-fault.js';
import { checkModernRequest, checkParams } from './http-modern-headers.js';
import { createWatch, Listens } from './listens.js';
import { answerModern, ModernLogs, passNotification, toModernNotify, toVisibleError } from './modern-call.js';
import { UnansweredStates } from './unanswered-states.js';

export interface HttpModernOptions {
  hub: Hub;
  limits: McpHttpLimits;
  /** All calls that run for HTTP callers. */
  calls: CallsUnderWay;
  now: () => number;
  /** The session id of a principal. Default: another one at each start. */
  identify?: ((principal: Principal) => string) | undefined;
  /** No call has come under this session id for a while. */
  endSession: (sessionId: string) => void;
}

/** A call that was refused for one of these has not begun, and is sent again. */
const helpsToWait: ReadonlySet<unknown> = new Set(['budget_exhausted', 'limit_reached', 'cluster_unavailable']);

const listenMethod = 'subscriptions/listen';

/** Modern requests over HTTP: each is a connection of its own, so nothing can mix. */
export class HttpModern {
  readonly asked: UnansweredStates;
  readonly #options: HttpModernOptions;
  readonly #identities = new Map<string, { identity: ModernIdentity; leave: () => void }>();
  readonly #listeners = new Map<Listens, ModernIdentity>();
  readonly #logs = new ModernLogs();
  readonly #listenCalls = new CallsUnderWay();
  readonly #callPrefix = randomBytes(6).toString('hex');
  readonly #stopListening: () => void;
  #calls = 0;
  #running = 0;

  constructor(options: HttpModernOptions) {
    this.#options = options;
    this.asked = new UnansweredStates(options.now);
    this.#stopListening = options.hub.events.add((event) => this.#notify(event));
  }

  /** Answers a request whose envelope is `meta`. Returns why not, or nothing. */
  answer(call: HttpCall, request: RpcRequest, meta: JsonObject): HttpFault | undefined {
    const { hub } = this.#options;
    const refusal =
      checkModernRequest(call.request, request, meta) ?? checkParams(call.request, request, hub) ?? this.#refuse(call, request);
    if (refusal === undefined) this.#call(call, request, meta);
    return refusal;
  }

  /** Takes a notification; nothing comes back. */
  receive({ principal, response, headers }: HttpCall, { method, params: message = {} }: RpcNotification): void {
    sendEmpty(response, 202, headers);
    // These belong to a call of their connection, and here each has its own.
    if (method === 'notifications/progress' || method === 'notifications/cancelled') return;
    const identity = this.#identify(principal);
    const era = envelopeOf(message) === undefined ? 'legacy' : 'modern';
    const notify = toModernNotify({ notify: () => {}, notifyListens: (event) => this.#notifyListens(identity, event) });
    void passNotification(this.#options.hub, this.#contextOf(identity, { type: 'notification', method, message, era, notify }));
  }

  /** Not async, and without a session: nothing of one request concerns another. */
  #call(call: HttpCall, request: RpcRequest, meta: JsonObject): void {
    const { hub, limits, calls, now } = this.#options;
    const { id, method } = request;
    const identity = this.#identify(call.principal);
    const cancellation = new Cancellation();
    const callId = this.#nextCallId();
    const notify = (notified: string, params: JsonObject | undefined): void => {
      if (!exchange.takesNotifications) return;
      if (!exchange.isFull) return tryToNotify(exchange, toNotification(notified, params), hub);
      // A listen that has missed a change would be wrong without knowing it.
      if (listens !== undefined) exchange.cut();
    };
    const listens = method === listenMethod ? this.#createListens(identity, notify) : undefined;
    let isRunning = true;
    identity.running++;
    if (listens === undefined) this.#running++;
    else {
      identity.listening++;
      this.#listeners.set(listens, identity);
    }
    const end = (): void => {
      if (!isRunning) return;
      isRunning = false;
      if (listens === undefined) this.#running--;
      else {
        identity.listening--;
        this.#listeners.delete(listens);
      }
      identity.running--;
      identity.lastHeard = now();
    };
    const onGone = (): void => {
      // The agent that hangs up has cancelled.
      if (isRunning) cancellation.cancel('the connection was closed');
      end();
    };
    const exchange = new HttpExchange({ call, limits, calls: listens === undefined ? calls : this.#listenCalls, onGone });
    if (!isRunning) return;
    const send = (answer: JsonObject): void => {
      if (isRunning) answerIn(exchange, answer);
      end();
    };
    const fail = (error: unknown): void => send(toErrorAnswer(id, toVisibleError(error, { hub, callId, method })));
    const toCaller = (clientInfo: JsonObject | undefined): Caller => {
      if (identity.noteName(clientInfo)) hub.agents.changed.emit();
      return callerOf(identity, 'modern', clientInfo);
    };
    const notifyListens = (event: ProviderEvent): void => this.#notifyListens(identity, event);
    const listen = listens && ((params: JsonObject) => listens.serve(id, params, cancellation));
    try {
      const answered = answerModern(hub, {
        request,
        meta,
        callId,
        cancellation,
        trace: toTraceHeaders(call.request.headers),
        toCaller,
        notify,
        notifyListens,
        logs: this.#logs,
        listen,
      });
      // A call that goes on with its answer is under way again, before it stops waiting for that.
      const putBack = this.asked.take(call.principal, request);
      answered.then(
        (result) => {
          this.asked.add(call.principal, request, result.requestState);
          send(new ResultAnswer(id, result));
        },
        (error: unknown) => {
          if (helpsToWait.has(codeOf(error))) putBack();
          fail(error);
        },
      );
    } catch (error) {
      fail(error);
    }
  }

  #createListens(identity: ModernIdentity, notify: (method: string, params: JsonObject) => void): Listens {
    const watchResource = createWatch(this.#options.hub, (method, message) =>
      this.#contextOf(identity, { type: 'request', method, message, era: 'legacy', notify: () => {} }),
    );
    return new Listens({ notify, watchResource });
  }

  #contextOf(
    identity: ModernIdentity,
    { era, ...message }: Pick<RequestContextOptions, 'type' | 'method' | 'message' | 'notify'> & { era: Era },
  ): RequestContext {
    const caller = callerOf(identity, era, undefined);
    return new RequestContext({ ...message, caller, callId: this.#nextCallId(), cancellation: new Cancellation() });
  }

  /** Releases the session ids that have been idle for too long. */
  sweep(): void {
    const { now, limits } = this.#options;
    for (const [key, { identity }] of this.#identities)
      if (identity.running === 0 && now() - identity.lastHeard >= limits.sessionIdleMs) this.#endIdentity(key);
  }

  /** Answers the listens, which would go on for ever. */
  endListens(): void {
    for (const listens of [...this.#listeners.keys()]) listens.endAll();
  }

  /** Ends every session id; what runs is cancelled by its connection. */
  close(): void {
    this.endListens();
    this.#stopListening();
    for (const key of [...this.#identities.keys()]) this.#endIdentity(key);
  }

  #endIdentity(key: string): void {
    const known = this.#identities.get(key);
    this.#identities.delete(key);
    known?.leave();
    if (known !== undefined) this.#options.endSession(known.identity.sessionId);
  }

  #refuse({ accepted, principal }: HttpCall, { id, method }: RpcRequest): HttpFault | undefined {
    const { maxInFlight, maxListens } = this.#options.limits;
    const { running, listening } = this.#identify(principal);
    if (method !== listenMethod) {
      const most = mostOfOne(maxInFlight);
      if (running - listening >= most) return tooMany(`${most} requests of yours are under way; wait for one to end.`, 1, id);
      if (this.#running < maxInFlight) return undefined;
      return tooMany(`${maxInFlight} requests are under way; wait for one to end.`, 1, id);
    }
    if (!accepted.eventStream) return fault(406, 'bad_message', `"${listenMethod}" is answered with "text/event-stream" only.`, id);
    const most = mostOfOne(maxListens);
    if (listening >= most) return tooMany(`${most} listens of yours are open.`, 30, id);
    return this.#listeners.size < maxListens ? undefined : tooMany(`${maxListens} listens are open.`, 30, id);
  }

  #notify(event: ProviderEvent): void {
    const { hub } = this.#options;
    this.#logs.pass(event, hub);
    for (const [listens, { sessionId, principal }] of this.#listeners) {
      if ((event.sessionId ?? sessionId) === sessionId && hub.mayHear(principal, event)) listens.notify(event);
    }
  }

  /** A change that a request caused concerns the other connections of the same caller. */
  #notifyListens(identity: ModernIdentity, event: ProviderEvent): void {
    for (const [listens, listener] of this.#listeners) if (listener === identity) listens.notify(event);
  }

  #nextCallId(): string {
    return `${this.#callPrefix}-${++this.#calls}`;
  }

  #identify(principal: Principal): ModernIdentity {
    const key = principalKey(principal);
    const known = this.#identities.get(key)?.identity;
    const identity = known ?? this.#addIdentity(key, principal);
    identity.lastHeard = this.#options.now();
    return identity;
  }

  #addIdentity(key: string, principal: Principal): ModernIdentity {
    const { hub, now } = this.#options;
    const identity = new ModernIdentity(principal, now, this.#options.identify?.(principal));
    const stopWaiting = hub.whileLive(principal, () => this.#endIdentity(key));
    const leaveHub = hub.agents.add(identity);
    const leave = (): void => {
      stopWaiting();
      leaveHub();
    };
    this.#identities.set(key, { identity, leave });
    return identity;
  }
}

/** Sends the answer, or the reason why it cannot be printed. */
function answerIn(exchange: HttpExchange, answer: JsonObject): void {
  try {
    exchange.answer(answer, statusOf(answer));
  } catch (error) {
    const failed = toErrorAnswer(answer.id, error);
    exchange.answer(failed, statusOf(failed));
  }
}

function tryToNotify(exchange: HttpExchange, notification: JsonObject, { logger }: Hub): void {
  try {
    exchange.notify(notification);
  } catch (error) {
    logger.warn('A message to the agent was dropped.', { error: messageOf(error) });
  }
}

function callerOf({ sessionId, principal }: ModernIdentity, era: Era, clientInfo: JsonObject | undefined): Caller {
  return { sessionId, door: 'http', era, clientInfo, principal };
}

/** The spec gives some errors a status of their own; any other error is an answer like all. */
function statusOf({ error }: JsonObject): number {
  if (!isJsonObject(error)) return 200;
  const code = Number(error.code);
  if (code === errorTable.unknown_method.rpcCode) return 404;
  return code <= headerMismatchCode && code >= errorTable.unsupported_version.rpcCode ? 400 : 200;
}

/** Clients under one token may call themselves anything, and anew in each request. */
const mostNames = 8;

/** A principal whose calls share one session id, since the modern era has no sessions. */
class ModernIdentity implements WatchedAgent {
  readonly sessionId: string;
  readonly door = 'http';
  readonly era = 'modern';
  readonly principal: Principal;
  readonly since = Date.now();
  /** By the clock of the door. */
  lastHeard = 0;
  running = 0;
  /** Of those that run the ones that listen. */
  listening = 0;
  readonly #now: () => number;
  readonly #names = new Set<string>();

  constructor(principal: Principal, now: () => number, sessionId: string = randomUUID()) {
    this.principal = principal;
    this.sessionId = sessionId;
    this.#now = now;
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  get lastCallAt(): number {
    return Date.now() - Math.round(this.#now() - this.lastHeard);
  }

  get inFlight(): number {
    return this.running;
  }

  /** True if it has not called itself so before. */
  noteName(clientInfo: Caller['clientInfo']): boolean {
    const name = nameOfClient(clientInfo);
    if (name === undefined || this.#names.has(name)) return false;
    for (const oldest of this.#names) {
      if (this.#names.size < mostNames) break;
      this.#names.delete(oldest);
    }
    this.#names.add(name);
    return true;
  }
}
