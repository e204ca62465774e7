import { randomBytes } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { messageOf } from '@notebridge/kit/message-of';
import type { Caller } from '../../core/call-context.js';
import { Cancellation } from '../../core/cancellation.js';
import type { BridgeError } from '../../core/errors.js';
import { owner, type Principal } from '../../core/principal.js';
import type { Era } from '../../core/protocol-versions.js';
import type { ProviderEvent } from '../../core/provider.js';
import { RequestContext } from '../../core/request-context.js';
import type { Hub } from '../../hub.js';
import type { Channel } from '../../rpc/message-stream.js';
import type { RpcId, RpcNotification, RpcRequest } from '../../rpc/messages.js';
import { envelopeOf } from '../../rpc/modern-envelope.js';
import { Peer } from '../../rpc/peer.js';
import { isLevelWanted, parseLogLevel, toInitializeResult } from './legacy-era.js';
import { Listens } from './listens.js';
import { answerModern, toVisibleError } from './modern-call.js';
import { unsupportedVersion } from './modern-era.js';
import { UnreadNotifications } from './unread-notifications.js';

export interface AgentSessionOptions {
  hub: Hub;
  channel: Channel;
  door: Caller['door'];
  /** On whose behalf the agent calls, as the door has proved it. Left out: the owner. */
  principal?: Principal | undefined;
  /** The session id that the hub sees for this caller. Default: one of its own. */
  sessionId?: string | undefined;
  /**
   * Takes a notification that belongs to a request that runs (its progress, a log line of it). False to have it sent like any
   * other. Left out: there is one way for all.
   */
  notifyDuring?: ((request: RpcId, notification: JsonObject) => boolean) | undefined;
  /** Notifies modern listens of a change that a request caused. Left out: the listens of this connection. */
  notifyListens?: ((event: ProviderEvent) => void) | undefined;
  /** True while the agent does not read: notifications are dropped then, and `catchUp` reports them. Default: it reads. */
  isBehind?: (() => boolean) | undefined;
  /** Requests of this agent that may run at once. Default 1024. */
  maxInFlight?: number | undefined;
  /** The agent went away, or was disconnected. */
  onClose?: () => void;
}

/** The sender of a message, and how it is answered beside its result. */
interface Origin {
  callId: string;
  /** The request; undefined for a notification, and for what we ask on our own. */
  id: RpcId | undefined;
  cancellation: Cancellation;
  caller: Caller;
  /** Log lines are sent from this level up; none if undefined. */
  logLevel: string | undefined;
}

/**
 * One connection of one agent. It detects the era of each request (the modern one names its version in each), and
 * translates between them and the hub; the hub itself knows no era.
 */
export class AgentSession {
  readonly #options: AgentSessionOptions;
  readonly #hub: Hub;
  readonly #peer: Peer;
  readonly #listens: Listens;
  readonly #callPrefix = randomBytes(6).toString('hex');
  readonly #unread = new UnreadNotifications();
  readonly #stopListening: () => void;
  #legacyCaller: Caller;
  #era: Era | undefined;
  #logLevel = 'debug';
  #calls = 0;

  constructor(options: AgentSessionOptions) {
    this.#options = options;
    this.#hub = options.hub;
    this.#legacyCaller = this.#callerOf('legacy', undefined);
    this.#listens = new Listens({
      notify: (method, params) => this.#peer.notify(method, params),
      watchResource: (uri) => this.#watchResource(uri),
    });
    this.#stopListening = options.hub.events.add((event) => this.#notifyAgent(event));
    this.#peer = new Peer({
      channel: options.channel,
      onRequest: (request, call) => this.#answer(request, call),
      onNotification: (notification) => void this.#receive(notification),
      onFault: (error, id) => this.#reportFault(error, id),
      onUnsent: (error) => this.#hub.logger.warn('A message to the agent was dropped.', { error: messageOf(error) }),
      onClose: () => this.#end(),
      ...(options.maxInFlight === undefined ? {} : { maxInFlight: options.maxInFlight }),
    });
  }

  /** Under which callers of the hub know this agent. */
  get sessionId(): string {
    return this.#options.sessionId ?? this.#callPrefix;
  }

  /** Requests of the agent that run just now. */
  get inFlight(): number {
    return this.#peer.inFlight.serving;
  }

  /** Answers the listens, which would go on for ever; other calls may still end. Ending them twice is harmless. */
  endListens(): void {
    this.#listens.endAll();
  }

  /** Closes the stream to the agent and hangs up. Calls end with the error. Closing twice is harmless. */
  close(error?: Error): void {
    if (this.#listens.size === 0) return this.#peer.close(error);
    this.endListens();
    // The answers to the listens come out of the chain before this turn of the loop ends.
    setImmediate(() => this.#peer.close(error));
  }

  /** A frame that could not be read is answered, unless it was an answer itself. */
  reportUnreadable(error: BridgeError): void {
    this.#reportFault(error, null);
  }

  /** Not async: every call comes through here. */
  #answer(request: RpcRequest, call: Cancellation): Promise<JsonObject> {
    const callId = this.#nextCallId();
    try {
      const meta = envelopeOf(request.params);
      const answer = meta === undefined ? this.#answerLegacy(request, call, callId) : this.#answerModern(request, call, callId, meta);
      return answer.catch((error: unknown) => this.#fail(request, callId, error));
    } catch (error) {
      return new Promise(() => this.#fail(request, callId, error));
    }
  }

  #fail({ method }: RpcRequest, callId: string, error: unknown): never {
    throw toVisibleError(error, { hub: this.#hub, callId, method });
  }

  #answerLegacy(request: RpcRequest, cancellation: Cancellation, callId: string): Promise<JsonObject> {
    const { method } = request;
    const params = request.params ?? {};
    if (method === 'initialize') this.#meet(params);
    else this.#era ??= 'legacy';
    const context = this.#contextOf('request', method, params, this.#legacyOrigin(callId, cancellation, request.id));
    switch (method) {
      case 'initialize':
        return this.#hub
          .request(context, async (inner) => toInitializeResult(inner.message, this.#hub))
          .then((result) => {
            // From here on events are sent; before, the agent may not know yet what they mean.
            this.#era = 'legacy';
            return result;
          });
      case 'ping':
        return this.#hub.request(context, async () => ({}));
      case 'logging/setLevel':
        return this.#hub.request(context, async (inner) => this.#setLogLevel(inner.message));
      default:
        return this.#hub.request(context);
    }
  }

  #meet({ protocolVersion, clientInfo }: JsonObject): void {
    if (this.#era === 'modern') throw unsupportedVersion(protocolVersion);
    this.#legacyCaller = this.#callerOf('legacy', isJsonObject(clientInfo) ? clientInfo : undefined);
  }

  #answerModern(request: RpcRequest, cancellation: Cancellation, callId: string, meta: JsonObject): Promise<JsonObject> {
    const { method, id } = request;
    const answer = answerModern(this.#hub, {
      request,
      meta,
      callId,
      cancellation,
      toCaller: (clientInfo) => this.#callerOf('modern', clientInfo),
      notify: (notified, params) => this.#send(notified, params, id),
      notifyListens: (event) => this.#notifyChange(event),
      listen: (params) => this.#listens.serve(id, params, cancellation),
    });
    // A probe decides nothing: the agent may still fall back to `initialize`.
    if (method !== 'server/discover') this.#era ??= 'modern';
    return answer;
  }

  async #receive({ method, params }: RpcNotification): Promise<void> {
    const origin = this.#legacyOrigin(this.#nextCallId(), new Cancellation());
    if (envelopeOf(params) !== undefined) origin.caller = this.#callerOf('modern', undefined);
    const context = this.#contextOf('notification', method, params ?? {}, origin);
    // What ends at this border is not the providers' business.
    const isOurs = method === 'notifications/initialized' || method === 'notifications/cancelled';
    try {
      await (isOurs ? this.#hub.request(context, async () => ({})) : this.#hub.notify(context));
    } catch (error) {
      this.#hub.logger.warn('A notification of the agent failed.', { method, error: messageOf(error) });
    }
  }

  /** Notifies modern listens of this connection of a change. */
  notifyListens(event: ProviderEvent): void {
    this.#listens.notify(event);
  }

  /** Sends the agent, which reads again, the notifications that it missed. */
  catchUp(): void {
    for (const event of this.#unread.takeAll()) this.#notifyAgent(event);
  }

  #notifyAgent(event: ProviderEvent): void {
    if (event.sessionId !== undefined && event.sessionId !== this.sessionId) return;
    if (!this.#hub.mayHear(this.#options.principal ?? owner, event)) return;
    if (this.#options.isBehind?.()) return this.#unread.add(event.method);
    this.#listens.notify(event);
    if (this.#era === 'legacy') this.#notify(event.method, event.params, this.#logLevel);
  }

  /** Reports a change that a modern request caused. */
  #notifyChange(event: ProviderEvent): void {
    const { notifyListens } = this.#options;
    if (notifyListens === undefined) this.#listens.notify(event);
    else notifyListens(event);
  }

  /** Sends to the agent; log lines only from the level up that it asked for. */
  #notify(method: string, params: JsonObject | undefined, logLevel: string | undefined, during?: RpcId): void {
    if (method === 'notifications/message' && (logLevel === undefined || !isLevelWanted(params?.level, logLevel))) return;
    this.#send(method, params, during);
  }

  #send(method: string, params: JsonObject | undefined, during: RpcId | undefined): void {
    const { notifyDuring, isBehind } = this.#options;
    if (isBehind?.()) return this.#unread.add(method);
    if (during !== undefined && notifyDuring?.(during, { jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) })) return;
    this.#peer.notify(method, params);
  }

  /** Has the providers watch a resource, as a legacy agent would: its updates then come as events. Returns the unsubscribe function. */
  #watchResource(uri: string): () => void {
    const ask = async (method: string): Promise<void> => {
      try {
        const origin = this.#legacyOrigin(this.#nextCallId(), new Cancellation());
        await this.#hub.request(this.#contextOf('request', method, { uri }, origin));
      } catch (error) {
        this.#hub.logger.debug('Whether a resource is watched could not be changed.', { method, uri, error: messageOf(error) });
      }
    };
    void ask('resources/subscribe');
    return () => void ask('resources/unsubscribe');
  }

  #contextOf(type: 'request' | 'notification', method: string, message: JsonObject, origin: Origin): RequestContext {
    const { callId, id, cancellation, caller, logLevel } = origin;
    const notify = (notified: string, params?: JsonObject): void => {
      // In the modern era changes go to all listeners, whatever caused them.
      if (caller.era === 'modern' && notified.endsWith('/list_changed'))
        this.#notifyChange({ method: notified, ...(params === undefined ? {} : { params }) });
      else this.#notify(notified, params, logLevel, id);
    };
    return new RequestContext({ type, method, message, callId, cancellation, caller, notify });
  }

  #legacyOrigin(callId: string, cancellation: Cancellation, id?: RpcId): Origin {
    return { callId, id, cancellation, caller: this.#legacyCaller, logLevel: this.#logLevel };
  }

  #nextCallId(): string {
    return `${this.#callPrefix}-${++this.#calls}`;
  }

  #callerOf(era: Era, clientInfo: JsonObject | undefined): Caller {
    const { door, principal } = this.#options;
    return { sessionId: this.sessionId, door, era, clientInfo, ...(principal === undefined ? {} : { principal }) };
  }

  #setLogLevel(params: JsonObject): JsonObject {
    this.#logLevel = parseLogLevel(params.level, 'level');
    return {};
  }

  #reportFault(error: BridgeError, id: RpcId | null): void {
    this.#hub.logger.warn('A message of the agent could not be used.', { code: error.code, error: error.message });
    if (error.code !== 'unexpected_answer') this.#peer.sendFault(error, id);
  }

  #end(): void {
    this.#stopListening();
    // The agent has closed its end; what is still to be written to it leaves now.
    this.#options.channel.outgoing.close();
    this.#options.onClose?.();
  }
}
