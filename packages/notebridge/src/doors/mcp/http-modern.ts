import { randomBytes, randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { messageOf } from '@notebridge/kit/message-of';
import type { Caller } from '../../core/call-context.js';
import { Cancellation } from '../../core/cancellation.js';
import { BridgeError, errorTable } from '../../core/errors.js';
import { type Principal, principalKey } from '../../core/principal.js';
import type { ProviderEvent } from '../../core/provider.js';
import type { Hub } from '../../hub.js';
import { ResultAnswer } from '../../rpc/frames.js';
import { MessageStream } from '../../rpc/message-stream.js';
import { type RpcNotification, type RpcRequest, toErrorAnswer } from '../../rpc/messages.js';
import { CallsUnderWay } from '../http/calls-under-way.js';
import { sendEmpty } from '../http/raw-answer.js';
import { AgentSession } from './agent-session.js';
import type { HttpCall, McpHttpLimits } from './http-call.js';
import { HttpExchange } from './http-exchange.js';
import { fault, type HttpFault, headerMismatchCode, tooMany } from './http-fault.js';
import { checkModernRequest } from './http-modern-headers.js';
import { answerModern, toVisibleError } from './modern-call.js';

export interface HttpModernOptions {
  hub: Hub;
  limits: McpHttpLimits;
  /** All calls that run for HTTP callers. */
  calls: CallsUnderWay;
  now: () => number;
  /** No call has come under this session id for a while. */
  endSession: (sessionId: string) => void;
}

/** A principal whose calls share one session id, since the modern era has no sessions. */
interface Identity {
  sessionId: string;
  principal: Principal;
  lastHeard: number;
  running: number;
}

interface Listener {
  agent: AgentSession;
  identity: Identity;
}

const listenMethod = 'subscriptions/listen';
/** Made once: an error for each request would be the most expensive part of it. */
const exchangeOver = new BridgeError('closed', 'The HTTP exchange is over.');

/** Modern requests over HTTP: each is a connection of its own, so nothing can mix. Only a listen has an `AgentSession`. */
export class HttpModern {
  readonly #options: HttpModernOptions;
  readonly #identities = new Map<string, Identity>();
  readonly #listeners = new Set<Listener>();
  readonly #listenCalls = new CallsUnderWay();
  readonly #callPrefix = randomBytes(6).toString('hex');
  #calls = 0;
  #running = 0;

  constructor(options: HttpModernOptions) {
    this.#options = options;
  }

  /** Answers a request whose envelope is `meta`. Returns why not, or nothing. */
  answer(call: HttpCall, request: RpcRequest, meta: JsonObject): HttpFault | undefined {
    const refusal = checkModernRequest(call.request, request, meta) ?? this.#refuse(call, request);
    if (refusal !== undefined) return refusal;
    if (request.method === listenMethod) this.#listen(call, request);
    else this.#call(call, request, meta);
    return undefined;
  }

  /** Not async, and without a session: nothing of one request concerns another. */
  #call(call: HttpCall, request: RpcRequest, meta: JsonObject): void {
    const { hub, limits, calls } = this.#options;
    const identity = this.#identify(call.principal);
    const cancellation = new Cancellation();
    const callId = `${this.#callPrefix}-${++this.#calls}`;
    let isRunning = true;
    const end = (): void => {
      if (isRunning) this.#running--;
      if (isRunning) this.#leave(identity);
      isRunning = false;
    };
    identity.running++;
    this.#running++;
    // The agent that hangs up has cancelled.
    const onGone = (): void => {
      if (isRunning) cancellation.cancel('the connection was closed');
      end();
    };
    const exchange = new HttpExchange({ call, limits, calls, onGone });
    if (!isRunning) return;
    const { id, method } = request;
    const send = (answer: JsonObject): void => {
      if (isRunning) answerIn(exchange, answer);
      end();
    };
    const fail = (error: unknown): void => send(toErrorAnswer(id, toVisibleError(error, { hub, callId, method })));
    const notify = (notified: string, params: JsonObject | undefined): void => {
      try {
        if (exchange.takesNotifications && !exchange.isFull) exchange.notify(toNotification(notified, params));
      } catch (error) {
        hub.logger.warn('A message to the agent was dropped.', { error: messageOf(error) });
      }
    };
    const toCaller = (clientInfo: JsonObject | undefined): Caller => {
      return { sessionId: identity.sessionId, door: 'http', era: 'modern', clientInfo, principal: call.principal };
    };
    const notifyListens = (event: ProviderEvent): void => this.#notifyListens(identity, event);
    try {
      const answered = answerModern(hub, { request, meta, callId, cancellation, toCaller, notify, notifyListens });
      answered.then((result) => send(new ResultAnswer(id, result)), fail);
    } catch (error) {
      fail(error);
    }
  }

  /** A listen receives changes for as long as it is open, as an agent with a session is. */
  #listen(call: HttpCall, request: RpcRequest): void {
    const { limits } = this.#options;
    let isRunning = true;
    const { agent, incoming, identity } = this.#createAgent(call.principal, {
      onNotification: (notification) => {
        if (!exchange.takesNotifications) return;
        if (!exchange.isFull) exchange.notify(notification);
        // A listen that has missed a change would be wrong without knowing it.
        else exchange.cut();
      },
      onAnswer: (answer) => {
        exchange.answer(answer, statusOf(answer));
        end();
      },
    });
    const listener = { agent, identity };
    const end = (): void => {
      if (!isRunning) return;
      isRunning = false;
      this.#listeners.delete(listener);
      this.#leave(identity);
      agent.close(exchangeOver);
    };
    identity.running++;
    this.#listeners.add(listener);
    const exchange = new HttpExchange({ call, limits, calls: this.#listenCalls, onGone: end });
    if (isRunning) incoming.send(request);
  }

  /** Takes a notification; nothing comes back. */
  receive({ principal, response, headers }: HttpCall, notification: RpcNotification): void {
    const { agent, incoming } = this.#createAgent(principal, { onNotification: () => {}, onAnswer: () => {} });
    incoming.send(notification);
    agent.close(exchangeOver);
    sendEmpty(response, 202, headers);
  }

  /** Releases the session ids that have been idle for too long. */
  sweep(): void {
    const { now, limits, endSession } = this.#options;
    for (const [key, { sessionId, lastHeard, running }] of this.#identities) {
      if (running > 0 || now() - lastHeard < limits.sessionIdleMs) continue;
      this.#identities.delete(key);
      endSession(sessionId);
    }
  }

  /** Answers the listens, which would go on for ever. */
  endListens(): void {
    for (const { agent } of [...this.#listeners]) agent.endListens();
  }

  /** Ends every session id; what runs is cancelled by its connection. */
  close(): void {
    this.endListens();
    for (const { sessionId } of this.#identities.values()) this.#options.endSession(sessionId);
    this.#identities.clear();
  }

  #refuse({ accepted }: HttpCall, { id, method }: RpcRequest): HttpFault | undefined {
    const { maxInFlight, maxListens } = this.#options.limits;
    if (method !== listenMethod) {
      if (this.#running < maxInFlight) return undefined;
      return tooMany(`${maxInFlight} requests are under way; wait for one to end.`, 1, id);
    }
    if (!accepted.eventStream) return fault(406, 'bad_message', `"${listenMethod}" is answered with "text/event-stream" only.`, id);
    return this.#listeners.size < maxListens ? undefined : tooMany(`${maxListens} listens are open.`, 30, id);
  }

  #createAgent(
    principal: Principal,
    { onNotification, onAnswer }: { onNotification: (notification: JsonObject) => void; onAnswer: (answer: JsonObject) => void },
  ): { agent: AgentSession; incoming: MessageStream<unknown>; identity: Identity } {
    const identity = this.#identify(principal);
    const incoming = new MessageStream<unknown>();
    const outgoing = new MessageStream<unknown>();
    outgoing.consume({
      onItem: (message) => {
        if (!isJsonObject(message)) return;
        if (message.method === undefined) onAnswer(message);
        else onNotification(message);
      },
    });
    const agent = new AgentSession({
      hub: this.#options.hub,
      channel: { incoming, outgoing },
      door: 'http',
      principal,
      sessionId: identity.sessionId,
      notifyListens: (event) => this.#notifyListens(identity, event),
    });
    return { agent, incoming, identity };
  }

  /** A change that a request caused concerns the other connections of the same caller. */
  #notifyListens(identity: Identity, event: ProviderEvent): void {
    for (const listener of this.#listeners) if (listener.identity === identity) listener.agent.notifyListens(event);
  }

  #leave(identity: Identity): void {
    identity.running--;
    identity.lastHeard = this.#options.now();
  }

  #identify(principal: Principal): Identity {
    const key = principalKey(principal);
    const identity = this.#identities.get(key) ?? { sessionId: randomUUID(), principal, lastHeard: 0, running: 0 };
    this.#identities.set(key, identity);
    identity.lastHeard = this.#options.now();
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

function toNotification(method: string, params: JsonObject | undefined): JsonObject {
  return params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params };
}

/** The spec gives some errors a status of their own; any other error is an answer like all. */
function statusOf({ error }: JsonObject): number {
  if (!isJsonObject(error)) return 200;
  const code = Number(error.code);
  if (code === errorTable.unknown_method.rpcCode) return 404;
  return code <= headerMismatchCode && code >= errorTable.unsupported_version.rpcCode ? 400 : 200;
}
