import { BridgeError } from '@notebridge/protocol/core/errors';
import { toParamHeaders } from '@notebridge/protocol/core/param-headers';
import { isModernVersion } from '@notebridge/protocol/core/protocol-versions';
import { toMarkedNumbers } from '@notebridge/protocol/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { MessageStream } from '@notebridge/protocol/rpc/message-stream';
import { classifyMessage, type RpcId } from '@notebridge/protocol/rpc/messages';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import type { RemoteServerConfig } from '../config/server-config.js';
import { createExactFetch, fromTransport } from './exact-fetch.js';
import { type Link, type LinkOptions, noteStream, toFaultAnswer } from './link.js';
import type { ServerTokens } from './oauth/server-tokens.js';
import { createResumingFetch } from './resuming-fetch.js';
import { createServerFetch, type ServerFetch } from './server-fetch.js';
import { StartFault, unavailable, wentAway } from './unavailable.js';
import { explainHttpFault, httpStatusOf, isConnectionBroken, type UpstreamHttpFault } from './upstream-http-fault.js';

interface SendOptions {
  requestSignal?: AbortSignal;
  headers?: Readonly<Record<string, string>>;
  onRequestStreamEnd?: () => void;
}

/** What both transports of the SDK have, as far as it is needed here. */
interface SdkTransport {
  start(): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own message type is narrower than what passes here
  send(message: any, options?: SendOptions): Promise<void>;
  close(): Promise<void>;
  terminateSession?(): Promise<void>;
  setProtocolVersion?(version: string): void;
  readonly sessionId?: string | undefined;
  onmessage?: ((message: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** Whether the message can come twice and do no harm: no request that may change something. A server drops an answer that it has. */
function isRepeatable({ method, id }: JsonObject): boolean {
  return method === undefined || id === undefined || /^(ping|\w+(\/templates)?\/list|resources\/read|prompts\/get)$/.test(String(method));
}

/** How long a server may take to answer that its session is over. Milliseconds. */
const goodByeMs = 1000;
/** How long what is sent first waits for the session's own stream: what a server asks there before is lost, and nobody notices. Milliseconds. */
const streamWaitMs = 500;

/** Connects with an MCP server over Streamable HTTP or the older SSE, by the transports of the official SDK. */
export async function openHttpLink(config: RemoteServerConfig, options: LinkOptions): Promise<Link> {
  const way = await createServerFetch(config, options.env).catch((error: unknown) => {
    throw new StartFault(messageOf(error), { lasting: true, cause: error });
  });
  const tokens = options.logins.tokensOf(config, way.fetch);
  const { fetch, answered } = watchFirstStream(createExactFetch(tokens?.noting(way.fetch) ?? way.fetch));
  const create = await loadTransport(config, { fetch, tokens });
  const transport = create();
  // The older transport has one stream for all, and no modern era.
  const isOlder = config.transport === 'sse';
  const createOwn = options.mayAsk === true && !isOlder ? create : undefined;
  const sessionless = isOlder ? transport : create();
  const link = new HttpLink(config.name, { ...options, transport, sessionless, createOwn, streamAnswered: answered, tokens, way });
  options.signal.addEventListener('abort', () => void link.close(), { once: true });
  try {
    await transport.start();
    if (sessionless !== transport) await sessionless.start();
  } catch (error) {
    const need = error instanceof BridgeError ? error : tokens && toLoginNeed(error, tokens);
    if (need !== undefined) throw need;
    const fault = explainHttpFault(error);
    throw new StartFault(fault.words, { lasting: fault.isLasting, cause: error });
  }
  link.open();
  return link;
}

/** Creates a transport, or another one for the same session. */
type CreateTransport = (session?: { sessionId: string | undefined; protocolVersion: string }) => SdkTransport;

async function loadTransport(
  { transport, url, headers }: RemoteServerConfig,
  { fetch, tokens }: { fetch: ServerFetch['fetch']; tokens: ServerTokens | undefined },
): Promise<CreateTransport> {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const access = { requestInit: { headers }, fetch, ...(tokens && { authProvider: tokens }) };
  if (transport === 'sse') return () => new SSEClientTransport(new URL(url), access);
  return ({ sessionId, protocolVersion } = { sessionId: undefined, protocolVersion: '' }) =>
    new StreamableHTTPClientTransport(new URL(url), {
      ...access,
      fetch: createResumingFetch(fetch),
      ...(sessionId !== undefined && { sessionId }),
      ...(protocolVersion !== '' && { protocolVersion }),
    });
}

interface HttpLinkOptions extends LinkOptions {
  /** Has the session that `initialize` opens. */
  transport: SdkTransport;
  /** For the modern era: `initialize` may still open a session when that has been agreed on. */
  sessionless: SdkTransport;
  /** Creates a transport for one request, so that what comes on its stream is known to belong to it. */
  createOwn: CreateTransport | undefined;
  /** Resolves when the session has its own stream, or is refused it. */
  streamAnswered: Promise<void>;
  tokens: ServerTokens | undefined;
  way: ServerFetch;
}

/**
 * A channel over HTTP. There every request is a connection of its own that can fail alone, and the session is something that the
 * server may forget: both are distinguished here.
 */
class HttpLink implements Link {
  readonly channel = { incoming: new MessageStream<unknown>(), outgoing: new MessageStream<unknown>() };
  readonly #name: string;
  readonly #transport: SdkTransport;
  readonly #sessionless: SdkTransport;
  readonly #options: HttpLinkOptions;
  /** Transports of single requests, while anything may come on them. */
  readonly #own = new Set<SdkTransport>();
  /** Requests without an answer yet. In the modern era ending the exchange is how a call is cancelled. */
  readonly #pending = new Map<RpcId, AbortController | undefined>();
  #isModern = false;
  #version = '';
  #isOpen = false;
  #hasStream: Promise<unknown> | undefined;
  #closing: Promise<void> | undefined;

  constructor(name: string, options: HttpLinkOptions) {
    const { transport, sessionless } = options;
    this.#name = name;
    this.#transport = transport;
    this.#sessionless = sessionless;
    this.#options = options;
    for (const each of [transport, sessionless]) {
      each.onmessage = (message: unknown) => this.#receive(message);
      each.onclose = () => this.channel.incoming.close(wentAway(name, 'the connection was closed'));
      each.onerror = (error) => this.#onError(error);
    }
    this.channel.outgoing.consume({ onItem: (message) => void this.#send(message as JsonObject), onClose: () => void this.close() });
  }

  /** From here on an error of the event stream means that the server went. */
  open(): void {
    this.#isOpen = true;
  }

  setProtocolVersion(version: string): void {
    this.#version = version;
    this.#isModern = isModernVersion(version);
    // In the modern era each request says it of itself.
    if (!this.#isModern) this.#transport.setProtocolVersion?.(version);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // Who is gone, or has forgotten us, needs no good-bye.
    if (this.#transport.sessionId !== undefined && !this.channel.incoming.closed)
      await settlesWithin(Promise.resolve(this.#transport.terminateSession?.()), goodByeMs);
    await Promise.all([this.#transport, this.#sessionless, ...this.#own].map((transport) => transport.close().catch(() => {})));
    await this.#options.way.close();
  }

  #receive(marked: unknown): void {
    const message = fromTransport(marked);
    if (isJsonObject(message) && message.method === undefined) this.#pending.delete(message.id as RpcId);
    this.channel.incoming.send(message);
  }

  async #send(message: JsonObject, isAgain = false): Promise<void> {
    const { kind } = classifyMessage(message);
    if (this.#hasStream !== undefined) await this.#hasStream;
    if (this.#closing !== undefined) return;
    if (message.method === 'notifications/initialized') this.#awaitStream();
    if (this.#isModern && message.method === 'notifications/cancelled') return this.#abort(message);
    const id = kind === 'request' ? (message.id as RpcId) : undefined;
    const exchange = this.#isModern && id !== undefined ? new AbortController() : undefined;
    if (id !== undefined) this.#pending.set(id, exchange);
    const transport = this.#transportFor(id, message.method);
    try {
      await transport.send(toMarkedNumbers(message), {
        ...(exchange && { requestSignal: exchange.signal, headers: this.#paramHeaders(message) }),
        onRequestStreamEnd: () => {
          this.#own.delete(transport);
          this.#failCall(id, wentAway(this.#name, 'the connection ended before the answer'));
        },
      });
    } catch (error) {
      this.#own.delete(transport);
      if (exchange?.signal.aborted === true || this.#closing !== undefined) return;
      if (!isAgain && isRepeatable(message) && isConnectionBroken(error)) return this.#send(message, true);
      this.#fail(id, error);
    }
  }

  #awaitStream(): void {
    const { createOwn, streamAnswered, signal } = this.#options;
    if (createOwn === undefined) return;
    this.#hasStream = settlesWithin(streamAnswered, streamWaitMs, signal).then(() => {
      this.#hasStream = undefined;
    });
  }

  /** In the modern era servers ask by answers. Before the handshake is over none may ask. */
  #transportFor(id: RpcId | undefined, method: unknown): SdkTransport {
    const { createOwn } = this.#options;
    if (this.#isModern || method === 'server/discover') return this.#sessionless;
    if (id === undefined || createOwn === undefined || this.#version === '') return this.#transport;
    const { sessionId } = this.#transport;
    const own = createOwn({ sessionId, protocolVersion: this.#version });
    own.onmessage = (marked: unknown) => {
      const message = fromTransport(marked);
      if (isJsonObject(message) && message.method !== undefined && message.id !== undefined) noteStream(message, id);
      else if (isJsonObject(message) && message.method === undefined) this.#own.delete(own);
      this.#receive(message);
    };
    own.onerror = (error) => this.#onError(error);
    this.#own.add(own);
    // It has nothing to wait for: it opens a stream with each request.
    void own.start();
    return own;
  }

  /** From what is really sent, so that header and body never differ. */
  #paramHeaders({ method, params }: JsonObject): Record<string, string> {
    if (method !== 'tools/call' || !isJsonObject(params)) return {};
    return toParamHeaders(this.#options.paramHeadersOf(params.name), params.arguments);
  }

  #abort({ params }: JsonObject): void {
    const id = (isJsonObject(params) ? params.requestId : undefined) as RpcId;
    this.#pending.get(id)?.abort();
    this.#pending.delete(id);
  }

  /** One message could not be sent, or its answer not be read. */
  #fail(id: RpcId | undefined, error: unknown): void {
    const { tokens } = this.#options;
    const own = error instanceof BridgeError ? error : tokens && toLoginNeed(error, tokens);
    if (own !== undefined) return this.#failCall(id, own);
    const fault = explainHttpFault(error, !this.#isModern && this.#transport.sessionId !== undefined);
    if (fault.answer !== undefined && id !== undefined && this.#pending.delete(id)) {
      this.channel.incoming.send({ jsonrpc: '2.0', id, error: fault.answer });
      return;
    }
    this.#failCall(id, this.#toError(fault, error));
    if (fault.isGone) this.channel.incoming.close(wentAway(this.#name, fault.words));
  }

  #toError({ words, ran, isLasting, status }: UpstreamHttpFault, error: unknown): BridgeError {
    const cause = new StartFault(words, { lasting: isLasting, status, cause: error });
    if (ran === 'no') return unavailable(this.#name, `"${this.#name}" could not be called: ${words}.`, 'no', cause);
    return unavailable(
      this.#name,
      `"${this.#name}" did not answer: ${words}. Whether the call had an effect is unknown.`,
      'unknown',
      cause,
    );
  }

  #failCall(id: RpcId | undefined, error: BridgeError): void {
    if (id !== undefined && this.#pending.delete(id)) this.channel.incoming.send(toFaultAnswer(id, error));
  }

  /**
   * What no request was the cause of. The older transport has one event stream for everything; when it breaks, it would come back
   * as a session that nobody opened. The newer one gives up after some tries to have its stream back: nobody is there.
   */
  #onError(error: Error): void {
    if (!this.#isOpen || this.#closing !== undefined) return;
    const isGone = 'event' in error || error.message.startsWith('Maximum reconnection attempts');
    if (isGone) this.channel.incoming.close(wentAway(this.#name, 'its event stream broke'));
    else this.#options.logger.debug(`The transport to "${this.#name}" reports a fault.`, { server: this.#name, error: messageOf(error) });
  }
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** A `fetch`, and what resolves when the first event stream that it was asked for is there, or refused. */
function watchFirstStream(send: Fetch): { fetch: Fetch; answered: Promise<void> } {
  let resolve = (): void => {};
  const answered = new Promise<void>((resolveIt) => {
    resolve = resolveIt;
  });
  const fetch: Fetch = (url, init) => (init?.method === 'GET' ? send(url, init).finally(resolve) : send(url, init));
  return { fetch, answered };
}

/** What a person is to do about the fault of a request; undefined: a login would not help. */
function toLoginNeed(error: unknown, tokens: ServerTokens): BridgeError | undefined {
  if (!(error instanceof Error)) return undefined;
  // Of the SDK, by its name: loading its class would cost each start.
  if (error.name === 'InsufficientScopeError') {
    const { requiredScope: scope } = error as Error & { requiredScope?: string };
    return tokens.require({ why: 'the login does not allow this (HTTP 403, insufficient_scope)', scope, cause: error });
  }
  if (error.name === 'UnauthorizedError' || httpStatusOf(error).status === 401)
    return tokens.require({ why: 'the server refuses the login (HTTP 401)', cause: error });
  return undefined;
}
