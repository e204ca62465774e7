import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { Principal } from '@notebridge/protocol/core/principal';
import { isModernVersion } from '@notebridge/protocol/core/protocol-versions';
import { parseMessage } from '@notebridge/protocol/core/wire';
import { type Classified, classifyMessage, type RpcId, type RpcRequest } from '@notebridge/protocol/rpc/messages';
import { envelopeKeys, envelopeOf } from '@notebridge/protocol/rpc/modern-envelope';
import type { SessionShelf } from '@notebridge/system/files/session-shelf';
import type { Hub } from '../../hub.js';
import { type Authenticate, Authenticator } from '../http/authenticator.js';
import type { HttpApp } from '../http/http-app.js';
import type { HttpContext } from '../http/http-context.js';
import { receiveBody } from '../http/read-body.js';
import type { AuthChallenge, Refusal } from '../http/refusal.js';
import { defaultHttpLimits, type HttpCall, headerOf, type McpHttpLimits, parseAccept } from './http-call.js';
import { fault, faultOf, fromRefusal, type HttpFault, headerMismatch, printFault } from './http-fault.js';
import { HttpLegacy } from './http-legacy.js';
import { HttpModern } from './http-modern.js';
import { HttpSessions } from './http-sessions.js';
import type { SessionRelay } from './session-relay.js';
import { markOf, relayRequest, serveRelayed } from './session-relaying.js';

/** Where the door stands. */
const mcpPath = '/mcp';

export interface McpHttpDoorOptions {
  hub: Hub;
  /** On whose behalf an agent calls, by its `Authorization` header. Throws `bad_grant` or `denied`. */
  authenticate: Authenticate;
  /** What refusals say of an authorization server before the door. Default: nothing. */
  challenge?: AuthChallenge | undefined;
  /** A session has ended: what was held for it alone (its own instances of servers) can go. */
  endSession?: ((sessionId: string) => void) | undefined;
  /** Where sessions are left at the end, and found. Default: they end with this hub. */
  shelf?: SessionShelf | undefined;
  /** A session that began at another hub goes on here. */
  adopted?: ((sessionId: string) => void) | undefined;
  /** How a request reaches the hub that has its session. Default: it does not. */
  relay?: SessionRelay | undefined;
  /** The session id of a modern agent's principal. Default: another at each start. */
  identify?: ((principal: Principal) => string) | undefined;
  limits?: Partial<McpHttpLimits> | undefined;
  /** Milliseconds since some fixed moment. Default `performance.now`. */
  clock?: (() => number) | undefined;
}

export interface McpHttpDoor {
  /** Legacy agents that have a session. */
  readonly sessions: number;
  /** Resolves when no call runs, nor waits for what its agent was asked. */
  settled(): Promise<void>;
  /**
   * Takes no more requests, ends all streams, lets running calls end for a moment (a hub of a cluster: for its `drainMs`), then leaves the
   * sessions to another hub, or ends them: within 1.5 s more. Closing twice is harmless. To be called before the listener is closed, which
   * would cut what still runs.
   */
  close(): Promise<void>;
}

/** Messages in one batch: no other request is served while they are checked. */
const mostInBatch = 1024;
const requestHeaders =
  'authorization, content-type, accept, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, x-request-id';

/** Adds the MCP door over Streamable HTTP to an app: agents of both eras, on one path. Call it before `listenHttp`. */
export function createMcpHttpDoor(app: HttpApp, options: McpHttpDoorOptions): McpHttpDoor {
  const door = new McpHttp(app, options);
  const { authenticate, clock: now, challenge } = options;
  app.addRoute({
    methods: ['POST', 'GET', 'DELETE'],
    path: mcpPath,
    authenticator: new Authenticator(authenticate, { onRefused: app.refused, now, challenge }),
    printRefusal: printFault,
    requestHeaders,
    exposedHeaders: 'mcp-session-id',
    // What belongs to a call that runs: only the body says so.
    isAnsweredToTheEnd: true,
    handle: (context) => door.answer(context),
  });
  return door;
}

/** Reads requests and hands them to their era. */
class McpHttp implements McpHttpDoor {
  readonly #app: HttpApp;
  readonly #sessions: HttpSessions;
  readonly #legacy: HttpLegacy;
  readonly #modern: HttpModern;
  readonly #sweeper: NodeJS.Timeout;
  readonly #lastAnswersMs: number;
  readonly #shelf: SessionShelf | undefined;
  readonly #relay: SessionRelay | undefined;
  readonly #endRelay: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    app: HttpApp,
    { hub, endSession = () => {}, clock: now = () => performance.now(), shelf, relay, identify, adopted, ...more }: McpHttpDoorOptions,
  ) {
    const limits = { ...defaultHttpLimits, ...more.limits };
    this.#app = app;
    this.#lastAnswersMs = limits.lastAnswersMs;
    this.#shelf = shelf;
    this.#relay = relay;
    this.#endRelay = relay && serveRelayed(relay, { app, answer: (context) => this.#answerRelayed(context) });
    this.#sessions = new HttpSessions({ hub, limits, now, endSession, adopted, shelf, mark: relay?.mark });
    this.#legacy = new HttpLegacy({ sessions: this.#sessions, limits, calls: app.calls });
    this.#modern = new HttpModern({ hub, limits, calls: app.calls, now, endSession, identify });
    this.#sweeper = setInterval(() => this.#sweep(), Math.max(10, Math.min(30_000, limits.sessionIdleMs / 4)));
    this.#sweeper.unref();
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  async settled(): Promise<void> {
    await this.#app.calls.none();
    await this.#modern.asked.none();
    // What waited for an answer has gone on.
    if (this.#app.calls.size > 0) await this.settled();
  }

  /** Answers a request. Nothing on its way is async, as in the door of calls. */
  answer(context: HttpContext): void {
    const key = this.#shelf === undefined ? undefined : headerOf(context.request, 'mcp-session-id');
    if (key === undefined || this.#isEnding || this.#sessions.has(key)) return this.#answer(context);
    const mark = markOf(key);
    const where = this.#relay?.look(mark) ?? 'gone';
    if (this.#relay !== undefined && where === 'other') return relayRequest(context, this.#relay, { app: this.#app, mark });
    this.#answerLeft(context, { key, where });
  }

  /** A session that its hub may have left: another may go on with it, or this one. */
  #answerLeft(context: HttpContext, { key, where }: { key: string; where: ReturnType<SessionRelay['look']> }): void {
    const relay = this.#relay;
    this.#sessions.adopt(key, context.principal).then(
      (mark) => {
        const now = mark === undefined ? where : (relay?.look(mark) ?? 'gone');
        // A hub that ends keeps the sessions that call, and answers what belongs to those calls; the rest is to be sent again.
        const isThere = now === 'draining' ? !this.#sessions.has(key) : now === 'other' && mark !== undefined;
        if (relay !== undefined && isThere) relayRequest(context, relay, { app: this.#app, mark: mark ?? markOf(key) });
        else this.#answer(context);
      },
      (error: unknown) => context.refuse({ ...faultOf(503, toBridgeError(error)), headers: retrySoon }),
    );
  }

  /** Of another hub, which took this one for the hub of the session: it may have ended since, and come back without it. */
  #answerRelayed(context: HttpContext): void {
    const key = headerOf(context.request, 'mcp-session-id');
    if (key === undefined || this.#isEnding || this.#sessions.has(key)) return this.#answer(context);
    this.#answerLeft(context, { key, where: 'self' });
  }

  #answer(context: HttpContext): void {
    try {
      const refusal = this.#serve(context);
      if (refusal !== undefined) context.refuse(refusal);
    } catch (error) {
      context.fail(error);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#sweeper);
    // Another hub is there already; this one has to be started first.
    this.#sessions.endStreams(this.#relay === undefined ? restartMs : undefined);
    this.#modern.endListens();
    await this.#sessions.leaveIdle();
    const waiting = new AbortController();
    await Promise.race([this.#app.calls.none(), delay(this.#lastAnswersMs, undefined, { signal: waiting.signal }).catch(() => undefined)]);
    waiting.abort();
    await this.#sessions.leaveAll();
    this.#sessions.close();
    this.#modern.close();
    this.#endRelay?.();
  }

  /** A task that is looked at, and the answer to what an agent of the modern era was asked: that is a request. */
  #belongsToCall(principal: Principal, request: RpcRequest): boolean {
    return request.method.startsWith('tasks/') || this.#modern.asked.has(principal, request);
  }

  get #isEnding(): boolean {
    return this.#closing !== undefined || this.#app.isDraining;
  }

  #sweep(): void {
    this.#sessions.sweep();
    this.#modern.sweep();
  }

  /** Returns why the request is not served, or nothing when it was answered, or will be. */
  #serve(context: HttpContext): HttpFault | undefined {
    const { request, response, principal, headers } = context;
    const { method } = request;
    if (this.#isEnding && !this.#mayGoOn(request)) return ending(null);
    const call: HttpCall = { request, response, principal, headers, accepted: parseAccept(request.headers.accept) };
    if (method === 'POST') return this.#post(context, call);
    if (isModernVersion(headerOf(request, 'mcp-protocol-version')))
      return notAllowed('This protocol version has POST only: to listen, send "subscriptions/listen".', 'OPTIONS, POST');
    if (method === 'DELETE') return this.#legacy.delete(call);
    if (call.accepted.eventStream) return this.#legacy.get(call);
    return fault(406, 'bad_message', 'A GET is answered with "text/event-stream" only; the Accept header does not take that.');
  }

  #post(context: HttpContext, call: HttpCall): HttpFault | undefined {
    const { json, eventStream } = call.accepted;
    if (!json && !eventStream)
      return fault(406, 'bad_message', 'Answers are "application/json" or "text/event-stream"; the Accept header takes neither.');
    receiveBody(call.request, this.#app.maxBodyBytes, (body) => {
      try {
        const refusal = body === undefined ? undefined : this.#receive(call, body);
        if (refusal !== undefined) context.refuse(refusal);
      } catch (error) {
        context.fail(error);
      }
    });
    return undefined;
  }

  #receive(call: HttpCall, body: string | Refusal): HttpFault | undefined {
    if (typeof body !== 'string') return body.status === 400 ? fault(400, 'bad_json', String(body.detail)) : fromRefusal(body);
    let posted: unknown;
    try {
      posted = parseMessage(body);
    } catch (error) {
      return fault(400, codeOf(error) ?? 'bad_json', error instanceof Error ? error.message : 'The body could not be read.');
    }
    return Array.isArray(posted) ? this.#postBatch(call, posted) : this.#postOne(call, classifyMessage(posted), posted);
  }

  /** While the hub ends, no call is begun. Of a POST the body says what belongs to one, such as a question about a task; else it is of a session that calls. */
  #mayGoOn(request: IncomingMessage): boolean {
    const key = headerOf(request, 'mcp-session-id');
    if (request.method === 'POST') return key === undefined || this.#sessions.has(key);
    return key !== undefined && this.#sessions.isCalling(key);
  }

  /** The body decides the era, not a header: a proxy may have changed that one. */
  #postOne(call: HttpCall, classified: Classified, posted: unknown): HttpFault | undefined {
    const isModernHeader = isModernVersion(headerOf(call.request, 'mcp-protocol-version'));
    switch (classified.kind) {
      case 'fault':
        return faultOf(400, classified.error, classified.id);
      case 'answer':
        return this.#legacy.post(call, posted, [classified]);
      case 'notification':
        if (!isModernHeader && envelopeOf(classified.message.params) === undefined) return this.#legacy.post(call, posted, [classified]);
        return void this.#modern.receive(call, classified.message);
      case 'request': {
        const meta = envelopeOf(classified.message.params);
        if (this.#isEnding && !this.#belongsToCall(call.principal, classified.message)) return ending(classified.message.id);
        if (meta !== undefined) return this.#modern.answer(call, classified.message, meta);
        return isModernHeader ? withoutEnvelope(classified.message) : this.#legacy.post(call, posted, [classified]);
      }
    }
  }

  #postBatch(call: HttpCall, posted: unknown[]): HttpFault | undefined {
    if (posted.length > mostInBatch)
      return fault(
        413,
        'limit_reached',
        `A batch holds at most ${mostInBatch} messages, and this one ${posted.length}. Send them in several.`,
      );
    const messages = posted.map(classifyMessage);
    if (this.#isEnding && messages.some(({ kind }) => kind === 'request')) return ending(null);
    if (messages.length === 0) return fault(400, 'bad_message', 'Not a JSON-RPC message: an empty batch.');
    for (const each of messages) {
      if (each.kind === 'fault') return faultOf(400, each.error, each.id);
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

/** A hub that is started again is there by then: agents try few times to open their stream again. Milliseconds. */
const restartMs = 5000;
const retrySoon = ['retry-after', '1'];

function ending(id: RpcId | null): HttpFault {
  return {
    ...fault(503, 'closed', 'This hub is ending. Call again in a moment.', id),
    headers: [...retrySoon, 'connection', 'close'],
  };
}

function toBridgeError(error: unknown): BridgeError {
  return error instanceof BridgeError ? error : new BridgeError('internal', 'The session could not be looked up.', { cause: error });
}
