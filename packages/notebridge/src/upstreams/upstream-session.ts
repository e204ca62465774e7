import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import { isInputRequired, isQuestion, type Question } from '@notebridge/protocol/core/questions';
import { hasTasksExtension } from '@notebridge/protocol/core/task-servers';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { RpcId, RpcNotification, RpcRequest } from '@notebridge/protocol/rpc/messages';
import { envelopeKeys, serverInfoMetaKey, subscriptionIdMetaKey, withoutEnvelope } from '@notebridge/protocol/rpc/modern-envelope';
import { Peer, type PeerRequestOptions } from '@notebridge/protocol/rpc/peer';
import { withoutAnswers } from './input-required.js';
import { type Link, streamOf } from './link.js';
import { hasPushed, pushHint, withPushHint } from './push-only.js';

/** What a server said of itself in the handshake. */
export interface Handshake {
  era: Era;
  protocolVersion: string;
  capabilities: JsonObject;
  serverInfo?: JsonObject | undefined;
  instructions?: string | undefined;
}

export interface UpstreamSessionOptions {
  link: Link;
  /** The name and version sent to the server. */
  clientInfo: JsonObject;
  onNotification: (event: ProviderEvent) => void;
  /** The server asks back. Left out: it was not promised that it may. `during`: the call on whose stream it came. */
  onQuestion?: ((question: Question, asking: Cancellation, during: RpcId | undefined) => Promise<JsonObject>) | undefined;
  /** It has answered a call that nobody waits for any more. */
  onLateAnswer?: ((id: RpcId) => void) | undefined;
  /** A tool of the modern era has failed since it can ask by requests alone. */
  onPush: (tool: string) => void;
  /** The server sent something that could not be used, or can't be sent something. */
  onFault: (error: unknown) => void;
  onClose: (error: Error | undefined) => void;
}

/** A session with a server over one connection, in the era that was agreed. It ends with the connection. */
export class UpstreamSession {
  readonly #options: UpstreamSessionOptions;
  readonly #peer: Peer;
  #isClosed = false;
  /** What was agreed: see `agree`. */
  handshake: Handshake = { era: 'legacy', protocolVersion: '', capabilities: {} };

  constructor(options: UpstreamSessionOptions) {
    this.#options = options;
    this.#peer = new Peer({
      channel: options.link.channel,
      onRequest: (request, call) => this.#answer(request, call),
      onNotification: (notification) => options.onNotification(toEvent(notification)),
      onFault: (error, id) => {
        if (error.code === 'unexpected_answer' && id !== null) options.onLateAnswer?.(id);
        options.onFault(error);
      },
      onUnsent: options.onFault,
      onClose: (error) => {
        this.#isClosed = true;
        options.onClose(error);
      },
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** What was agreed; from here on requests are of that era. */
  agree(handshake: Handshake): void {
    this.handshake = handshake;
    this.#options.link.setProtocolVersion?.(handshake.protocolVersion);
  }

  /** True if the server says that it has such a thing: `tools`, `resources`, …. */
  can(capability: string): boolean {
    return this.handshake.capabilities[capability] !== undefined;
  }

  /**
   * Sends one request, without the marks of the caller's era and with those of the server's. `askable`: what a server of the modern era
   * may ask the caller of this request. Rejects as `Peer.request` does.
   */
  request(method: string, params: JsonObject, options: PeerRequestOptions, askable?: JsonObject): Promise<JsonObject> {
    if (this.handshake.era === 'legacy') {
      if (params.inputResponses !== undefined || params.requestState !== undefined) return this.#requestAgain(method, params, options);
      return this.#peer.request(method, params._meta === undefined ? params : withoutEnvelope(params), options);
    }
    return this.#requestModern(method, params, options, askable);
  }

  /** Sends a request as it stands. */
  requestPlain(method: string, params: JsonObject, options: PeerRequestOptions): Promise<JsonObject> {
    return this.#peer.request(method, params, options);
  }

  notify(method: string, params?: JsonObject): void {
    this.#peer.notify(method, params === undefined ? undefined : withoutEnvelope(params));
  }

  /** Handles it as if the server had sent it. */
  suppose(event: ProviderEvent): void {
    this.#options.onNotification(event);
  }

  /** Ends calls under way with the error and hangs up. Closing twice is harmless. */
  close(error: Error): void {
    this.#peer.close(error);
  }

  /** Params with an envelope of ours: of what the caller's client can do only what passes through us. */
  toModernParams(params: JsonObject, protocolVersion = this.handshake.protocolVersion, askable: JsonObject = {}): JsonObject {
    const meta = isJsonObject(params._meta) ? params._meta : {};
    const own = {
      [envelopeKeys.protocolVersion]: protocolVersion,
      [envelopeKeys.clientCapabilities]: askable,
      [envelopeKeys.clientInfo]: this.#options.clientInfo,
    };
    return { ...params, _meta: { ...meta, ...own } };
  }

  /** Besides its ping, only what it was promised. */
  async #answer(request: RpcRequest, call: Cancellation): Promise<JsonObject> {
    if (request.method === 'ping') return {};
    const { onQuestion } = this.#options;
    if (onQuestion !== undefined && this.handshake.era === 'legacy' && isQuestion(request))
      return onQuestion(request, call, streamOf(request));
    if (onQuestion !== undefined && this.handshake.era === 'modern' && isQuestion(request))
      throw new BridgeError('unknown_method', `"${request.method}" cannot be sent to a client of 2026-07-28. ${pushHint}`);
    throw new BridgeError('unknown_method', `Notebridge did not offer "${request.method}" to this server.`);
  }

  async #requestAgain(method: string, params: JsonObject, options: PeerRequestOptions): Promise<JsonObject> {
    return this.#peer.request(method, withoutEnvelope(withoutAnswers(params)), options);
  }

  async #requestModern(
    method: string,
    params: JsonObject,
    options: PeerRequestOptions,
    askable: JsonObject | undefined,
  ): Promise<JsonObject> {
    const answered = await this.#peer.request(method, this.toModernParams(params, undefined, askable), options);
    if (isInputRequired(answered) && mayAsk.has(method)) return withoutMarks(answered);
    if (answered.resultType === 'task' && method === 'tools/call' && hasTasksExtension(askable)) return withoutMarks(answered);
    const { resultType, ...result } = answered;
    if (resultType === undefined || resultType === 'complete') {
      if (method !== 'tools/call' || !hasPushed(result)) return withoutMarks(result);
      this.#options.onPush(String(params.name));
      return withoutMarks(withPushHint(result));
    }
    throw new BridgeError('bad_message', `The server answered "${method}" with "${String(resultType)}", which it was not offered.`);
  }
}

/** Methods of the modern era whose answer may be a question. */
const mayAsk = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** A result without what the modern era adds to every one; our doors add their own. How long it may be kept stays with it. */
function withoutMarks(kept: JsonObject): JsonObject {
  if (!isJsonObject(kept._meta) || !(serverInfoMetaKey in kept._meta)) return kept;
  const { [serverInfoMetaKey]: _1, ...meta } = kept._meta;
  if (Object.keys(meta).length > 0) return { ...kept, _meta: meta };
  const { _meta, ...rest } = kept;
  return rest;
}

function toEvent({ method, params }: RpcNotification): ProviderEvent {
  if (params === undefined) return { method };
  const meta = params._meta;
  if (!isJsonObject(meta) || !(subscriptionIdMetaKey in meta)) return { method, params };
  // The mark of our own listen, which means nothing to anybody else.
  const { [subscriptionIdMetaKey]: _, ...kept } = meta;
  const { _meta, ...rest } = params;
  return { method, params: Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept } };
}
