import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { BridgeError, errorTable } from '../../core/errors.js';
import { type Principal, principalKey } from '../../core/principal.js';
import type { ProviderEvent } from '../../core/provider.js';
import type { Hub } from '../../hub.js';
import { MessageStream } from '../../rpc/message-stream.js';
import type { RpcNotification, RpcRequest } from '../../rpc/messages.js';
import { CallsUnderWay } from '../http/calls-under-way.js';
import { sendEmpty } from '../http/raw-answer.js';
import { AgentSession } from './agent-session.js';
import { countCall, type HttpCall, type McpHttpLimits } from './http-call.js';
import { HttpExchange } from './http-exchange.js';
import { fault, type HttpFault, headerMismatchCode, tooMany } from './http-fault.js';
import { checkModernRequest } from './http-modern-headers.js';

export interface HttpModernOptions {
  hub: Hub;
  limits: McpHttpLimits;
  /** All calls that run for HTTP callers. */
  calls: CallsUnderWay;
  now: () => number;
  /** Nobody has called under this session id for long. */
  endSession: (sessionId: string) => void;
}

/** Whose calls come under one session id, since the modern era has no sessions. */
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
/** Made once: an error for each request would be the dearest part of it. */
const exchangeOver = new BridgeError('closed', 'The HTTP exchange is over.');

/** Modern requests over HTTP: each is a connection of its own, with an `AgentSession` of its own, so nothing can mix. */
export class HttpModern {
  readonly #options: HttpModernOptions;
  readonly #identities = new Map<string, Identity>();
  readonly #listeners = new Set<Listener>();
  readonly #listenCalls = new CallsUnderWay();
  #running = 0;

  constructor(options: HttpModernOptions) {
    this.#options = options;
  }

  /** Answers a request whose envelope is `meta`. Returns why not, or nothing. */
  answer(call: HttpCall, request: RpcRequest, meta: JsonObject): HttpFault | undefined {
    const refusal = checkModernRequest(call.request, request, meta) ?? this.#refuse(call, request);
    if (refusal !== undefined) return refusal;
    const { response, accepted, headers } = call;
    const { calls, limits } = this.#options;
    const isListen = request.method === listenMethod;
    const exchange = new HttpExchange({ response, accepted, headers, ...limits });
    const { agent, incoming, identity } = this.#createAgent(call.principal, {
      onNotification: (notification) => {
        if (!exchange.takesNotifications) return;
        if (!exchange.isFull) exchange.notify(notification);
        // A listen that has missed a change would be wrong without knowing it.
        else if (isListen) exchange.cut();
      },
      onAnswer: (answer) => {
        // Throws what cannot be printed, and is called again with that error.
        exchange.answer(answer, statusOf(answer));
        end();
      },
    });
    const listener = { agent, identity };
    let isRunning = true;
    let release = (): void => {};
    const end = (): void => {
      if (!isRunning) return;
      isRunning = false;
      release();
      if (isListen) this.#listeners.delete(listener);
      else this.#running--;
      identity.running--;
      identity.lastHeard = this.#options.now();
      agent.close(exchangeOver);
    };
    identity.running++;
    if (isListen) this.#listeners.add(listener);
    else this.#running++;
    // The agent that hangs up has cancelled.
    release = countCall(isListen ? this.#listenCalls : calls, call, end);
    if (isRunning) incoming.send(request);
    return undefined;
  }

  /** Takes a notification; nothing comes back. */
  receive({ principal, response, headers }: HttpCall, notification: RpcNotification): void {
    const { agent, incoming } = this.#createAgent(principal, { onNotification: () => {}, onAnswer: () => {} });
    incoming.send(notification);
    agent.close(exchangeOver);
    sendEmpty(response, 202, headers);
  }

  /** Lets go of the session ids that nobody has used for long. */
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
      tellListens: (event) => this.#tellListens(identity, event),
    });
    return { agent, incoming, identity };
  }

  /** A change that a request brought about concerns the other connections of the same caller. */
  #tellListens(identity: Identity, event: ProviderEvent): void {
    for (const listener of this.#listeners) if (listener.identity === identity) listener.agent.tellListens(event);
  }

  #identify(principal: Principal): Identity {
    const key = principalKey(principal);
    const identity = this.#identities.get(key) ?? { sessionId: randomUUID(), principal, lastHeard: 0, running: 0 };
    this.#identities.set(key, identity);
    identity.lastHeard = this.#options.now();
    return identity;
  }
}

/** The spec gives some errors a status of their own; any other error is an answer like all. */
function statusOf({ error }: JsonObject): number {
  if (!isJsonObject(error)) return 200;
  const code = Number(error.code);
  if (code === errorTable.unknown_method.rpcCode) return 404;
  return code <= headerMismatchCode && code >= errorTable.unsupported_version.rpcCode ? 400 : 200;
}
