import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { messageOf } from '@notebridge/kit/message-of';
import type { BridgeError } from '../core/errors.js';
import { isModernVersion } from '../core/protocol-versions.js';
import type { ServerConfig } from '../core/server-config.js';
import { MessageStream } from '../rpc/message-stream.js';
import { classifyMessage, type RpcId } from '../rpc/messages.js';
import { settlesWithin } from '../util/settles-within.js';
import { type Link, type LinkOptions, StartFault, toFaultAnswer } from './link.js';
import { unavailable, wentAway } from './unavailable.js';
import { explainHttpFault, type UpstreamHttpFault } from './upstream-http-fault.js';

type HttpConfig = Extract<ServerConfig, { transport: 'http' | 'sse' }>;

/** What both transports of the SDK have, as far as it is needed here. */
interface SdkTransport {
  start(): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own message type is narrower than what passes here
  send(message: any, options?: { requestSignal?: AbortSignal; onRequestStreamEnd?: () => void }): Promise<void>;
  close(): Promise<void>;
  terminateSession?(): Promise<void>;
  setProtocolVersion?(version: string): void;
  readonly sessionId?: string | undefined;
  onmessage?: ((message: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** How long a server may take to answer that its session is over. Milliseconds. */
const goodByeMs = 1000;

/** Connects with an MCP server over Streamable HTTP or the older SSE, by the transports of the official SDK. */
export async function openHttpLink(config: HttpConfig, options: LinkOptions): Promise<Link> {
  const transport = await createTransport(config);
  const link = new HttpLink(config.name, transport, options);
  options.signal.addEventListener('abort', () => void link.close(), { once: true });
  try {
    await transport.start();
  } catch (error) {
    const fault = explainHttpFault(error);
    throw new StartFault(fault.words, { lasting: fault.isLasting, cause: error });
  }
  link.open();
  return link;
}

async function createTransport({ transport, url, headers }: HttpConfig): Promise<SdkTransport> {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const options = { requestInit: { headers } };
  return transport === 'sse' ? new SSEClientTransport(new URL(url), options) : new StreamableHTTPClientTransport(new URL(url), options);
}

/**
 * A channel over HTTP. There every request is a connection of its own that can fail alone, and the session is something that the
 * server may forget: both are distinguished here.
 */
class HttpLink implements Link {
  readonly channel = { incoming: new MessageStream<unknown>(), outgoing: new MessageStream<unknown>() };
  readonly #name: string;
  readonly #transport: SdkTransport;
  readonly #options: LinkOptions;
  /** Requests without an answer yet. In the modern era ending the exchange is how a call is cancelled. */
  readonly #pending = new Map<RpcId, AbortController | undefined>();
  #isModern = false;
  #isOpen = false;
  #closing: Promise<void> | undefined;

  constructor(name: string, transport: SdkTransport, options: LinkOptions) {
    this.#name = name;
    this.#transport = transport;
    this.#options = options;
    transport.onmessage = (message: unknown) => this.#receive(message);
    transport.onclose = () => this.channel.incoming.close(wentAway(name, 'the connection was closed'));
    transport.onerror = (error) => this.#onError(error);
    this.channel.outgoing.consume({ onItem: (message) => void this.#send(message as JsonObject), onClose: () => void this.close() });
  }

  /** From here on an error of the event stream means that the server went. */
  open(): void {
    this.#isOpen = true;
  }

  setProtocolVersion(version: string): void {
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
    await this.#transport.close().catch(() => {});
  }

  #receive(message: unknown): void {
    if (isJsonObject(message) && message.method === undefined) this.#pending.delete(message.id as RpcId);
    this.channel.incoming.send(message);
  }

  async #send(message: JsonObject): Promise<void> {
    const { kind } = classifyMessage(message);
    if (this.#isModern && message.method === 'notifications/cancelled') return this.#abort(message);
    const id = kind === 'request' ? (message.id as RpcId) : undefined;
    const exchange = this.#isModern && id !== undefined ? new AbortController() : undefined;
    if (id !== undefined) this.#pending.set(id, exchange);
    try {
      await this.#transport.send(message, {
        ...(exchange && { requestSignal: exchange.signal }),
        onRequestStreamEnd: () => this.#failCall(id, wentAway(this.#name, 'the connection ended before the answer')),
      });
    } catch (error) {
      if (exchange?.signal.aborted === true || this.#closing !== undefined) return;
      this.#fail(id, error);
    }
  }

  #abort({ params }: JsonObject): void {
    const id = (isJsonObject(params) ? params.requestId : undefined) as RpcId;
    this.#pending.get(id)?.abort();
    this.#pending.delete(id);
  }

  /** One message could not be sent, or its answer not be read. */
  #fail(id: RpcId | undefined, error: unknown): void {
    const fault = explainHttpFault(error, this.#transport.sessionId !== undefined);
    if (fault.answer !== undefined && id !== undefined && this.#pending.delete(id)) {
      this.channel.incoming.send({ jsonrpc: '2.0', id, error: fault.answer });
      return;
    }
    this.#failCall(id, this.#toError(fault, error));
    if (fault.isGone) this.channel.incoming.close(wentAway(this.#name, fault.words));
  }

  #toError({ words, ran, isLasting }: UpstreamHttpFault, error: unknown): BridgeError {
    const cause = new StartFault(words, { lasting: isLasting, cause: error });
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
