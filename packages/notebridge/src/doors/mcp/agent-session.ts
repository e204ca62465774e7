import { randomUUID } from 'node:crypto';
import type { Caller } from '../../core/call-context.js';
import { Cancellation } from '../../core/cancellation.js';
import { BridgeError, RemoteError } from '../../core/errors.js';
import type { Channel } from '../../core/message-stream.js';
import { envelopeOf } from '../../core/modern-envelope.js';
import { Peer } from '../../core/peer.js';
import type { Era } from '../../core/protocol-versions.js';
import type { ProviderEvent } from '../../core/provider.js';
import { RequestContext } from '../../core/request-context.js';
import type { RpcId, RpcNotification, RpcRequest } from '../../core/rpc.js';
import type { Hub } from '../../hub.js';
import { isJsonObject, type JsonObject } from '../../util/json.js';
import { isLevelWanted, parseLogLevel, toInitializeResult } from './legacy-era.js';
import { Listens } from './listens.js';
import { parseEnvelope, toDiscoverResult, toModernError, toModernResult, unsupportedVersion } from './modern-era.js';

export interface AgentSessionOptions {
  hub: Hub;
  channel: Channel;
  door: Caller['door'];
  /** Requests of this agent that may run at once. Default 1024. */
  maxInFlight?: number | undefined;
  /** The agent went away, or was let go. */
  onClose?: () => void;
}

/**
 * One connection of one agent. It tells the eras apart, request by request (the modern one names its version in each), and
 * translates between them and the hub; the hub itself knows no era.
 */
export class AgentSession {
  readonly #options: AgentSessionOptions;
  readonly #hub: Hub;
  readonly #peer: Peer;
  readonly #listens: Listens;
  readonly #sessionId = randomUUID();
  readonly #stopListening: () => void;
  #legacyCaller: Caller;
  #era: Era | undefined;
  #logLevel = 'debug';
  #calls = 0;

  constructor(options: AgentSessionOptions) {
    this.#options = options;
    this.#hub = options.hub;
    this.#legacyCaller = this.#callerOf('legacy', undefined);
    this.#listens = new Listens((method, params) => this.#peer.notify(method, params));
    this.#stopListening = options.hub.events.add((event) => this.#tell(event));
    this.#peer = new Peer({
      channel: options.channel,
      onRequest: (request, call) => this.#answer(request, call),
      onNotification: (notification) => this.#receive(notification),
      onFault: (error, id) => this.#reportFault(error, id),
      onClose: () => this.#end(),
      ...(options.maxInFlight === undefined ? {} : { maxInFlight: options.maxInFlight }),
    });
  }

  /** Requests of the agent that run just now. */
  get inFlight(): number {
    return this.#peer.inFlight.serving;
  }

  /** Answers the listens, which would go on for ever; other calls may still end. Ending them twice is harmless. */
  endListens(): void {
    this.#listens.endAll();
  }

  /** Tells the agent that nothing more will come, and hangs up. Closing twice is harmless. */
  close(): void {
    this.endListens();
    // The answers to the listens come out of the chain before this turn of the loop ends.
    setImmediate(() => this.#peer.close());
  }

  /** A frame that could not be read is answered, unless it was an answer itself. */
  reportUnreadable(error: BridgeError): void {
    this.#reportFault(error, null);
  }

  async #answer(request: RpcRequest, call: Cancellation): Promise<JsonObject> {
    const callId = `${this.#sessionId}-${++this.#calls}`;
    try {
      const meta = envelopeOf(request.params);
      return await (meta === undefined ? this.#answerLegacy(request, call, callId) : this.#answerModern(request, call, callId, meta));
    } catch (error) {
      if (error instanceof BridgeError || error instanceof RemoteError) throw error;
      this.#hub.logger.error('A call failed unexpectedly.', {
        call_id: callId,
        method: request.method,
        error: error instanceof Error ? error.stack : String(error),
      });
      throw new BridgeError('internal', 'Internal error', { data: { call_id: callId } });
    }
  }

  #answerLegacy(request: RpcRequest, cancellation: Cancellation, callId: string): Promise<JsonObject> {
    const { method } = request;
    const params = request.params ?? {};
    if (this.#era === 'modern' && method === 'initialize') throw unsupportedVersion(params.protocolVersion);
    if (method === 'initialize') return this.#initialize(params, cancellation, callId);
    this.#era ??= 'legacy';
    const context = this.#contextOf('request', method, params, {
      callId,
      cancellation,
      caller: this.#legacyCaller,
      logLevel: this.#logLevel,
    });
    if (method === 'ping') return this.#hub.request(context, async () => ({}));
    if (method === 'logging/setLevel') return this.#hub.request(context, async (inner) => this.#setLogLevel(inner.message));
    return this.#hub.request(context);
  }

  async #initialize(params: JsonObject, cancellation: Cancellation, callId: string): Promise<JsonObject> {
    this.#legacyCaller = this.#callerOf('legacy', isJsonObject(params.clientInfo) ? params.clientInfo : undefined);
    const context = this.#contextOf('request', 'initialize', params, {
      callId,
      cancellation,
      caller: this.#legacyCaller,
      logLevel: this.#logLevel,
    });
    const result = await this.#hub.request(context, async (inner) => toInitializeResult(inner.message, this.#hub));
    // From here on events are sent; before, the agent may not know yet what they mean.
    this.#era = 'legacy';
    return result;
  }

  async #answerModern(request: RpcRequest, cancellation: Cancellation, callId: string, meta: JsonObject): Promise<JsonObject> {
    const { method, id } = request;
    const params = request.params ?? {};
    const { clientInfo, logLevel } = parseEnvelope(method, meta);
    // A probe decides nothing: the agent may still fall back to `initialize`.
    if (method !== 'server/discover') this.#era ??= 'modern';
    const context = this.#contextOf('request', method, params, {
      callId,
      cancellation,
      caller: this.#callerOf('modern', clientInfo),
      logLevel,
    });
    try {
      return toModernResult(method, await this.#requestModern(context, id), this.#hub);
    } catch (error) {
      throw toModernError(error);
    }
  }

  #requestModern(context: RequestContext, id: RpcId): Promise<JsonObject> {
    switch (context.method) {
      case 'server/discover':
        return this.#hub.request(context, async () => toDiscoverResult(this.#hub));
      case 'subscriptions/listen':
        return this.#hub.request(context, (inner) => this.#listens.serve(id, inner.message, context.cancellation));
      default:
        return this.#hub.request(context);
    }
  }

  #receive({ method, params }: RpcNotification): void {
    const context = this.#contextOf('notification', method, params ?? {}, {
      callId: `${this.#sessionId}-${++this.#calls}`,
      cancellation: new Cancellation(),
      caller: this.#legacyCaller,
      logLevel: this.#logLevel,
    });
    // What ends at this border is not the providers' business.
    const isOurs = method === 'notifications/initialized' || method === 'notifications/cancelled';
    const passed = isOurs ? this.#hub.request(context, async () => ({})) : this.#hub.notify(context);
    passed.catch((error: unknown) => this.#hub.logger.warn('A notification of the agent failed.', { method, error: String(error) }));
  }

  #tell(event: ProviderEvent): void {
    this.#listens.tell(event);
    if (this.#era === 'legacy') this.#notify(event.method, event.params, this.#logLevel);
  }

  /** Sends to the agent; log lines only from the level up that it asked for. */
  #notify(method: string, params: JsonObject | undefined, logLevel: string | undefined): void {
    if (method === 'notifications/message' && (logLevel === undefined || !isLevelWanted(params?.level, logLevel))) return;
    this.#peer.notify(method, params);
  }

  #contextOf(
    type: 'request' | 'notification',
    method: string,
    message: JsonObject,
    {
      callId,
      cancellation,
      caller,
      logLevel,
    }: { callId: string; cancellation: Cancellation; caller: Caller; logLevel: string | undefined },
  ): RequestContext {
    const isModern = caller.era === 'modern';
    const notify = (notified: string, params?: JsonObject): void => {
      // In the modern era changes go to who listens, whoever caused them.
      if (isModern && notified.endsWith('/list_changed'))
        this.#listens.tell({ method: notified, ...(params === undefined ? {} : { params }) });
      else this.#notify(notified, params, logLevel);
    };
    return new RequestContext({ type, method, message, callId, cancellation, caller, notify });
  }

  #callerOf(era: Era, clientInfo: JsonObject | undefined): Caller {
    return { sessionId: this.#sessionId, door: this.#options.door, era, clientInfo };
  }

  #setLogLevel(params: JsonObject): JsonObject {
    this.#logLevel = parseLogLevel(params);
    return {};
  }

  #reportFault(error: BridgeError, id: RpcId | null): void {
    this.#hub.logger.warn('A message of the agent could not be used.', { code: error.code, error: error.message });
    if (error.code !== 'unexpected_answer') this.#peer.sendFault(error, id);
  }

  #end(): void {
    this.#stopListening();
    this.#options.onClose?.();
  }
}
