import { randomBytes } from 'node:crypto';
import type { Caller, TraceHeaders } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { BridgeError } from '@notebridge/protocol/core/errors';
import { owner, type Principal } from '@notebridge/protocol/core/principal';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import type { Asker } from '@notebridge/protocol/core/questions';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import { taskEvent } from '@notebridge/protocol/core/task-servers';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { Channel } from '@notebridge/protocol/rpc/message-stream';
import { type RpcId, type RpcNotification, type RpcRequest, toNotification } from '@notebridge/protocol/rpc/messages';
import { envelopeOf } from '@notebridge/protocol/rpc/modern-envelope';
import { Peer } from '@notebridge/protocol/rpc/peer';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Hub } from '../../hub.js';
import { nameOfClient, type WatchedAgent } from '../../recent/watched-agents.js';
import {
  createLegacyAsker,
  identityOf,
  isLevelWanted,
  parseLogLevel,
  type QuestionRoute,
  toInitializeResult,
  toLegacyToolResult,
  toLegacyTools,
} from './legacy-era.js';
import { createWatch, Listens } from './listens.js';
import { answerModern, ModernLogs, passNotification, toModernNotify, toVisibleError } from './modern-call.js';
import { unsupportedVersion } from './modern-era.js';
import { Repeats } from './repeats.js';
import { UnreadNotifications } from './unread-notifications.js';

/** What an agent gets wrong again and again is logged once, and counted, in this time. Milliseconds. */
const faultIntervalMs = 10_000;

export interface AgentSessionOptions extends QuestionRoute {
  hub: Hub;
  channel: Channel;
  door: Caller['door'];
  /** The ids of what the agent is asked come behind this one. Default 0. */
  lastId?: number | undefined;
  /** On whose behalf the agent calls, as the door has proved it. Left out: the owner. */
  principal?: Principal | undefined;
  /** The trace that the HTTP request belongs to with which this request came. Left out: the agent comes by another way. */
  traceOf?: ((request: RpcId) => TraceHeaders | undefined) | undefined;
  /** True while the agent does not read: notifications are dropped then, and `catchUp` tells of them. Default: it reads. */
  isBehind?: (() => boolean) | undefined;
  /** Requests of this agent that may run at once. Default 1024. */
  maxInFlight?: number | undefined;
  /** Ends the session where the owner of the hub wants that. Left out: it ends with the agent alone. */
  disconnect?: (() => void) | undefined;
  /** The agent went away, or was disconnected. */
  onClose?: () => void;
}

/**
 * One connection of one agent. It detects the era of each request (the modern one names its version in each), and
 * translates between them and the hub; the hub itself knows no era.
 */
export class AgentSession implements WatchedAgent {
  readonly since = Date.now();
  readonly #options: AgentSessionOptions;
  readonly #hub: Hub;
  readonly #peer: Peer;
  readonly #listens: Listens;
  readonly #callPrefix = randomBytes(6).toString('hex');
  readonly #logs = new ModernLogs();
  readonly #unread = new UnreadNotifications();
  readonly #stopListening: () => void;
  readonly #leave: () => void;
  #legacyCaller: Caller;
  #asker: Asker | undefined;
  #era: Era | undefined;
  #name: string | undefined;
  #logLevel = 'debug';
  readonly #faults = new Repeats(faultIntervalMs);
  #calls = 0;
  #lastCallAt: number | undefined;

  constructor(options: AgentSessionOptions) {
    this.#options = options;
    this.#hub = options.hub;
    this.#legacyCaller = this.#callerOf('legacy', undefined);
    this.#listens = new Listens({
      notify: (method, params) => this.#peer.notify(method, params),
      watchResource: createWatch(this.#hub, (method, params) => this.#contextOf('request', method, params)),
    });
    this.#stopListening = options.hub.events.add((event) => this.#notifyAgent(event));
    this.#peer = new Peer({
      channel: options.channel,
      lastId: options.lastId,
      onRequest: (request, call) => this.#answer(request, call),
      onNotification: (notification) => void this.#receive(notification),
      onFault: (error, id) => this.#reportFault(error, id),
      onUnsent: (error) => this.#hub.logger.warn('A message to the agent was dropped.', { error: messageOf(error) }),
      onClose: () => this.#end(),
      ...(options.maxInFlight === undefined ? {} : { maxInFlight: options.maxInFlight }),
    });
    this.#leave = this.#hub.agents.add(this);
  }

  /** Under which callers of the hub know this agent. */
  get sessionId(): string {
    return this.#callPrefix;
  }

  get door(): Caller['door'] {
    return this.#options.door;
  }

  get era(): Era | undefined {
    return this.#era;
  }

  get principal(): Principal {
    return this.#options.principal ?? owner;
  }

  get names(): readonly string[] {
    return this.#name === undefined ? [] : [this.#name];
  }

  get lastCallAt(): number | undefined {
    return this.#lastCallAt;
  }

  get disconnect(): (() => void) | undefined {
    return this.#options.disconnect;
  }

  /** Requests of the agent that run just now. */
  get inFlight(): number {
    return this.#peer.inFlight.serving;
  }

  /** Answers the listens, which would go on for ever; other calls may still end. Ending them twice is harmless. */
  endListens(): void {
    this.#listens.endAll();
  }

  /** Ends what the agent was asked with the error, and tells it. */
  withdrawQuestions(error: Error): void {
    this.#peer.withdrawRequests(error);
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
    if (request.method !== 'ping') this.#lastCallAt = Date.now();
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
    const context = this.#contextOf('request', method, params, { callId, cancellation, id: request.id });
    switch (method) {
      case 'initialize':
        return this.#hub
          .request(context, async (inner) => toInitializeResult(inner.message, identityOf(this.#hub, this.principal)))
          .then((result) => {
            // From here on events are sent; before, the agent may not know yet what they mean.
            this.#era = 'legacy';
            this.#hub.agents.changed.emit();
            return result;
          });
      case 'ping':
        return this.#hub.request(context, async () => ({}));
      case 'logging/setLevel':
        return this.#hub.request(context, async (inner) => this.#setLogLevel(inner.message));
      case 'tools/list':
        return this.#hub.request(context).then(toLegacyTools);
      case 'tools/call':
        return this.#hub.request(context).then(toLegacyToolResult);
      default:
        return this.#hub.request(context);
    }
  }

  #meet({ protocolVersion, clientInfo, capabilities }: JsonObject): void {
    if (this.#era === 'modern') throw unsupportedVersion(protocolVersion);
    this.#asker = createLegacyAsker(this.#peer, capabilities, this.#options);
    this.#legacyCaller = this.#callerOf('legacy', isJsonObject(clientInfo) ? clientInfo : undefined);
    this.#name = nameOfClient(this.#legacyCaller.clientInfo);
  }

  #answerModern(request: RpcRequest, cancellation: Cancellation, callId: string, meta: JsonObject): Promise<JsonObject> {
    const { method, id } = request;
    const answer = answerModern(this.#hub, {
      request,
      meta,
      callId,
      cancellation,
      toCaller: (clientInfo) => {
        this.#name ??= nameOfClient(clientInfo);
        return this.#callerOf('modern', clientInfo);
      },
      notify: (notified, params) => this.#send(notified, params, id),
      notifyListens: (event) => this.#listens.notify(event),
      logs: this.#logs,
      listen: method === 'subscriptions/listen' ? (params) => this.#listens.serve(id, params, cancellation) : undefined,
    });
    // A probe decides nothing: the agent may still fall back to `initialize`.
    if (method !== 'server/discover') this.#era ??= 'modern';
    return answer;
  }

  #receive({ method, params }: RpcNotification): Promise<void> {
    const caller = envelopeOf(params) === undefined ? this.#legacyCaller : this.#callerOf('modern', undefined);
    return passNotification(this.#hub, this.#contextOf('notification', method, params ?? {}, { caller }));
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
    this.#logs.pass(event, this.#hub);
    if (this.#era === 'legacy' && event.method !== taskEvent) this.#notify(event.method, event.params, this.#logLevel);
  }

  /** Sends to the agent; log lines only from the level up that it asked for. */
  #notify(method: string, params: JsonObject | undefined, logLevel: string, during?: RpcId): void {
    if (method !== 'notifications/message' || isLevelWanted(params?.level, logLevel)) this.#send(method, params, during);
  }

  #send(method: string, params: JsonObject | undefined, during?: RpcId): void {
    const { sendDuring, isBehind } = this.#options;
    if (isBehind?.()) return this.#unread.add(method);
    if (during !== undefined && sendDuring?.(during, toNotification(method, params))) return;
    this.#peer.notify(method, params);
  }

  /** Of a message that is no modern request. `id`: the request, if it is one of the agent's. */
  #contextOf(
    type: 'request' | 'notification',
    method: string,
    message: JsonObject,
    more: { id?: RpcId; callId?: string; cancellation?: Cancellation; caller?: Caller } = {},
  ): RequestContext {
    const { id, callId = this.#nextCallId(), cancellation = new Cancellation(), caller = this.#legacyCaller } = more;
    const logLevel = this.#logLevel;
    const notify =
      caller.era === 'modern'
        ? toModernNotify({ notify: (...said) => this.#send(...said), notifyListens: (event) => this.#listens.notify(event), logLevel })
        : (notified: string, params?: JsonObject) => this.#notify(notified, params, logLevel, id);
    const asker = caller.era === 'modern' ? undefined : this.#asker;
    const trace = id === undefined ? undefined : this.#options.traceOf?.(id);
    return new RequestContext({ type, method, message, callId, cancellation, caller, notify, asker, requestId: id, trace });
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
    this.#hub.logLevels.set(this.sessionId, this.#logLevel);
    return {};
  }

  #reportFault(error: BridgeError, id: RpcId | null): void {
    const { code, message } = error;
    this.#faults.note(code, (times) =>
      this.#hub.logger.warn('A message of the agent could not be used.', { code, error: message, ...(times > 1 && { times }) }),
    );
    if (error.code !== 'unexpected_answer') this.#peer.sendFault(error, id);
  }

  #end(): void {
    this.#stopListening();
    this.#leave();
    this.#hub.logLevels.delete(this.sessionId);
    // The agent has closed its end; what is still to be written to it leaves now.
    this.#options.channel.outgoing.close();
    this.#options.onClose?.();
  }
}
