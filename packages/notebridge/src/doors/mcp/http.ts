import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../../core/errors.js';
import { isModernVersion } from '../../core/protocol-versions.js';
import { parseMessage } from '../../core/wire.js';
import type { Hub } from '../../hub.js';
import { type Classified, classifyMessage, type RpcRequest } from '../../rpc/messages.js';
import { envelopeKeys, envelopeOf } from '../../rpc/modern-envelope.js';
import { type Authenticate, Authenticator } from '../http/authenticator.js';
import { logFault } from '../http/faults.js';
import type { HttpApp } from '../http/http-app.js';
import { readBody } from '../http/read-body.js';
import { isRefusal } from '../http/refusal.js';
import { requestIdOf } from '../http/request-id.js';
import { parseAccept } from './http-accept.js';
import { defaultLimits, type HttpCall, headerOf, type McpHttpLimits } from './http-call.js';
import { fault, fromRefusal, type HttpFault, headerMismatch, sendEmpty, sendFault } from './http-fault.js';
import { HttpLegacy } from './http-legacy.js';
import { HttpModern } from './http-modern.js';
import { HttpSessions } from './http-sessions.js';

/** Where the door stands. */
const mcpPath = '/mcp';

export interface McpHttpDoorOptions {
  hub: Hub;
  /** On whose behalf an agent calls, by its `Authorization` header. Throws `bad_grant` or `denied`. */
  authenticate: Authenticate;
  /** A session has ended: what was held for it alone (its own instances of servers) can go. */
  endSession?: ((sessionId: string) => void) | undefined;
  limits?: Partial<McpHttpLimits> | undefined;
  /** Milliseconds since some fixed moment. Default `performance.now`. */
  clock?: (() => number) | undefined;
}

export interface McpHttpDoor {
  /** Legacy agents that have a session. */
  readonly sessions: number;
  /**
   * Takes no more requests, ends all streams, lets running calls end for a moment, then ends the sessions. Ready within 1.5 s; closing
   * twice is harmless. To be called before the listener is closed, which would cut what still runs.
   */
  close(): Promise<void>;
}

const methods = 'DELETE, GET, OPTIONS, POST';
const requestHeaders =
  'authorization, content-type, accept, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, x-request-id';
/** How long running calls may still end by themselves. Milliseconds. */
const lastAnswersMs = 1200;

/** Adds the MCP door over Streamable HTTP to an app: agents of both eras, on one path. Call it before `listenHttp`. */
export function createMcpHttpDoor(app: HttpApp, options: McpHttpDoorOptions): McpHttpDoor {
  const door = new McpHttp(app, options);
  const answer = (request: IncomingMessage, response: ServerResponse): boolean => {
    const [path] = (request.url ?? '').split('?', 1);
    if (path !== mcpPath) return false;
    void door.answer(request, response);
    return true;
  };
  app.addFastRoute({ methods: ['POST', 'GET', 'DELETE'], urls: [mcpPath], take: answer });
  return door;
}

/** Reads requests and hands them to their era. */
class McpHttp implements McpHttpDoor {
  readonly #app: HttpApp;
  readonly #authenticator: Authenticator;
  readonly #sessions: HttpSessions;
  readonly #legacy: HttpLegacy;
  readonly #modern: HttpModern;
  readonly #sweeper: NodeJS.Timeout;
  #closing: Promise<void> | undefined;

  constructor(
    app: HttpApp,
    { hub, authenticate, endSession = () => {}, clock: now = () => performance.now(), ...more }: McpHttpDoorOptions,
  ) {
    const limits = { ...defaultLimits, ...more.limits };
    this.#app = app;
    this.#authenticator = new Authenticator(authenticate, { onRefused: app.refused, now });
    this.#sessions = new HttpSessions({ hub, limits, now, endSession });
    this.#legacy = new HttpLegacy({ sessions: this.#sessions, limits, calls: app.calls });
    this.#modern = new HttpModern({ hub, limits, calls: app.calls, now, endSession });
    this.#sweeper = setInterval(() => this.#sweep(), Math.max(10, Math.min(30_000, limits.sessionIdleMs / 4)));
    this.#sweeper.unref();
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** Answers a request. Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = requestIdOf(request) ?? randomUUID();
    const headers = this.#app.headersFor(request, requestId);
    if (headers.includes('access-control-allow-origin')) headers.push('access-control-expose-headers', 'mcp-session-id');
    try {
      const refusal = await this.#serve(request, response, headers);
      if (refusal !== undefined) sendFault(response, refusal, headers);
    } catch (error) {
      logFault(this.#app.logger, requestId, error);
      sendFault(response, fault(500, 'internal', `Internal error (${requestId})`), headers);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#sessions.endStreams();
    this.#modern.endListens();
    const waiting = new AbortController();
    await Promise.race([this.#app.calls.none(), delay(lastAnswersMs, undefined, { signal: waiting.signal }).catch(() => undefined)]);
    waiting.abort();
    this.#sessions.close();
    this.#modern.close();
  }

  #sweep(): void {
    this.#sessions.sweep();
    this.#modern.sweep();
  }

  /** Returns why the request is not served, or nothing when it was answered, or will be. */
  async #serve(request: IncomingMessage, response: ServerResponse, headers: readonly string[]): Promise<HttpFault | undefined> {
    const refusal = this.#app.rules(request);
    if (refusal !== undefined) return fromRefusal(refusal);
    const { method = '' } = request;
    if (method === 'OPTIONS') return answerOptions(request, response, headers);
    if (method !== 'POST' && method !== 'GET' && method !== 'DELETE') return notAllowed(`${method} is not answered here.`, methods);
    if (this.#closing !== undefined) return { ...fault(503, 'closed', 'The hub is closing.'), headers: ['retry-after', '1'] };
    const checked = this.#authenticator.check(request);
    const principal = checked instanceof Promise ? await checked : checked;
    if (isRefusal(principal)) return fromRefusal(principal);
    const call: HttpCall = { request, response, principal, headers, accepted: parseAccept(request.headers.accept) };
    if (method === 'POST') return this.#post(call);
    if (isModernVersion(headerOf(request, 'mcp-protocol-version')))
      return notAllowed('This protocol version has POST only: to listen, send "subscriptions/listen".', 'OPTIONS, POST');
    if (method === 'DELETE') return this.#legacy.delete(call);
    if (call.accepted.eventStream) return this.#legacy.get(call);
    return fault(406, 'bad_message', 'A GET is answered with "text/event-stream" only; the Accept header does not take that.');
  }

  async #post(call: HttpCall): Promise<HttpFault | undefined> {
    const { json, eventStream } = call.accepted;
    if (!json && !eventStream)
      return fault(406, 'bad_message', 'Answers are "application/json" or "text/event-stream"; the Accept header takes neither.');
    const body = await readBody(call.request, this.#app.maxBodyBytes);
    if (body === undefined) return undefined;
    if (isRefusal(body)) return body.status === 400 ? fault(400, 'bad_json', String(body.detail)) : fromRefusal(body);
    let posted: unknown;
    try {
      posted = parseMessage(body.text);
    } catch (error) {
      return fault(400, codeOf(error) ?? 'bad_json', error instanceof Error ? error.message : 'The body could not be read.');
    }
    return Array.isArray(posted) ? this.#postBatch(call, posted) : this.#postOne(call, classifyMessage(posted), posted);
  }

  /** The body tells the era, not a header: what stands in between may have changed that one. */
  #postOne(call: HttpCall, classified: Classified, posted: unknown): HttpFault | undefined {
    const isModernHeader = isModernVersion(headerOf(call.request, 'mcp-protocol-version'));
    switch (classified.kind) {
      case 'fault':
        return { status: 400, error: classified.error, id: classified.id };
      case 'answer':
        return this.#legacy.post(call, posted, [classified]);
      case 'notification':
        if (!isModernHeader && envelopeOf(classified.message.params) === undefined) return this.#legacy.post(call, posted, [classified]);
        return void this.#modern.receive(call, classified.message);
      case 'request': {
        const meta = envelopeOf(classified.message.params);
        if (meta !== undefined) return this.#modern.answer(call, classified.message, meta);
        return isModernHeader ? withoutEnvelope(classified.message) : this.#legacy.post(call, posted, [classified]);
      }
    }
  }

  #postBatch(call: HttpCall, posted: unknown[]): HttpFault | undefined {
    const messages = posted.map(classifyMessage);
    if (messages.length === 0) return fault(400, 'bad_message', 'Not a JSON-RPC message: an empty batch.');
    for (const each of messages) {
      if (each.kind === 'fault') return { status: 400, error: each.error, id: each.id };
      if (each.kind !== 'answer' && envelopeOf(each.message.params) !== undefined)
        return fault(400, 'bad_message', 'A batch cannot hold requests of the modern era. Send each by itself.');
    }
    return this.#legacy.post(call, posted, messages);
  }
}

function withoutEnvelope({ id, method }: RpcRequest): HttpFault {
  if (method === 'initialize') return headerMismatch('MCP-Protocol-Version names a version that has no "initialize".', id);
  const keys = `"${envelopeKeys.protocolVersion}" and "${envelopeKeys.clientCapabilities}"`;
  return fault(400, 'bad_params', `Invalid _meta envelope: this protocol version wants ${keys} in "_meta".`, id);
}

function notAllowed(message: string, allowed: string): HttpFault {
  return { ...fault(405, 'bad_message', message), headers: ['allow', allowed] };
}

/** A preflight of an allowed page gets what it asks for; anybody else just the methods. */
function answerOptions({ headers: asked }: IncomingMessage, response: ServerResponse, headers: readonly string[]): undefined {
  const isPreflight = asked.origin !== undefined && asked['access-control-request-method'] !== undefined;
  const allowed = [
    'access-control-allow-methods',
    methods,
    'access-control-allow-headers',
    requestHeaders,
    'access-control-max-age',
    '600',
  ];
  sendEmpty(response, 204, [...headers, 'allow', methods, ...(isPreflight ? allowed : [])]);
}
