import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { AuthBackoff } from '@notebridge/system/net/auth-backoff';
import { type BindOptions, listenOnLoopback } from '@notebridge/system/net/bind';
import { ownConnections } from '@notebridge/system/net/connections';
import { EntryGate } from '@notebridge/system/net/entry-gate';
import { FaultLog } from '@notebridge/system/net/fault-log';
import type { OnRefused } from '@notebridge/system/net/refused-attempt';
import { findHeadFault, hostsOf, pathOf } from '@notebridge/system/net/request-head';
import type { ServerOptions, WebSocket, WebSocketServer } from 'ws';
import { admit, otherUser, type PageRefusal, pageSubprotocol, refuseFound } from './page-admission.js';
import { PendingConnections, silenceMs } from './pending-connections.js';
import { busyCode, busyReason, type Slot, type Visitor } from './slot.js';
import type { SlotFinder, SlotQuery } from './slot-finder.js';

/** A port of another server at which pages may dial as well. */
export interface PagePort {
  readonly port: number;
  /** Values of `Host` that it answers to besides the loopback ones. */
  readonly hosts: readonly string[];
  /** Handles connections and upgrade requests from now on. Returns the unsubscribe function. */
  attach(door: PageDoor): () => void;
}

/** What looks at the connections and upgrade requests of a port. */
export interface PageDoor {
  connected(socket: Socket): void;
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void;
  /** A request that is no page's and whose head keeps the rules of the port. False if it is not answered. */
  request(request: IncomingMessage, response: ServerResponse): boolean;
}

export interface PageListenerOptions extends BindOptions {
  /** Left out: a port of its own is bound. */
  at?: PagePort | undefined;
  slots: Iterable<Slot>;
  /** Asked for slots that are elsewhere. Default: there are none. */
  finder?: SlotFinder | undefined;
  logger: Logger;
  /** Values of `Host`, besides the loopback ones, that a page may send; with or without the port. */
  allowHosts?: readonly string[] | undefined;
  maxMessageBytes: number;
  /** Called for each connection that was refused for its Host, its Origin or its token. Default: not reported. */
  onRefused?: OnRefused | undefined;
  /** Called for each page that was refused. Default: nobody is told. */
  onRefusedPage?: ((page: RefusedPage) => void) | undefined;
  /** Knows whose connections are let in. Default: those of this user alone. */
  gate?: EntryGate | undefined;
  /** Answers requests that are no page's, whose Host is right; false for those that are none of its own. Default: there are none. */
  answerPlain?: AnswerPlain | undefined;
}

export type AnswerPlain = (request: IncomingMessage, response: ServerResponse) => boolean;

/** A page that was refused before it was let in. */
export interface RefusedPage {
  why: NonNullable<PageRefusal['why']>;
  origin: string | undefined;
}

/** The close code by which a page knows that it is to dial again: "service restart". */
const laterCode = 1012;
/** How long a page may take to agree to a close. Milliseconds. */
const closeTimeoutMs = 1000;

/** The port that pages dial. It lets in only holders of a slot's token, from an origin of that slot. */
export class PageListener {
  readonly #options: PageListenerOptions;
  readonly #faults: FaultLog;
  #webSockets: Promise<WebSocketServer> | undefined;
  readonly #pendingConnections: PendingConnections;
  readonly #authBackoff = new AuthBackoff();
  readonly #gate: EntryGate;
  /** 0 until it is bound. */
  port = 0;
  #servers: Server[] = [];
  /** Empty, so that no one is let in, until the port is known. */
  #hosts: ReadonlySet<string> = new Set();
  #detach = (): void => {};

  private constructor(options: PageListenerOptions) {
    this.#options = options;
    this.#gate = options.gate ?? new EntryGate();
    this.#faults = new FaultLog(options.logger);
    this.#pendingConnections = new PendingConnections(this.#faults);
  }

  /** Binds the port, or shares the one that was given. Rejects with `port_in_use`. */
  static async open(options: PageListenerOptions): Promise<PageListener> {
    const listener = new PageListener(options);
    if (options.at !== undefined) return listener.#attach(options.at);
    const { port, servers } = await listenOnLoopback(() => listener.#createServer(), options);
    listener.port = port;
    listener.#servers = servers;
    listener.#hosts = hostsOf(port, options.allowHosts);
    for (const server of servers)
      server.on('error', (error) => options.logger.warn('The port for pages failed.', { error: error.message }));
    return listener;
  }

  /** Connections without a byte, past and present: what a browser makes that lacks the permission for the local network. */
  get silentConnections(): number {
    return this.#pendingConnections.silent;
  }

  /** Frees the port. Slots and their pages are not ours to close, but are waited for. */
  async close(): Promise<void> {
    this.#detach();
    (await this.#webSockets)?.close();
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    this.#pendingConnections.destroy();
    await Promise.all(closed);
  }

  #attach(at: PagePort): this {
    this.port = at.port;
    this.#hosts = hostsOf(at.port, [...at.hosts, ...(this.#options.allowHosts ?? [])]);
    this.#detach = at.attach({
      connected: (socket) => this.#pendingConnections.watch(socket),
      upgrade: (request, stream, head) => this.#upgrade(request, stream, head),
      request: (request, response) => this.#options.answerPlain?.(request, response) === true,
    });
    return this;
  }

  #createServer(): Server {
    const server = createServer({
      headersTimeout: silenceMs,
      requestTimeout: silenceMs,
      connectionsCheckingInterval: 5000,
      maxHeaderSize: 16_384,
    });
    // All of a head that fits are looked at, so that none hides behind 2,000 others.
    server.maxHeadersCount = 0;
    ownConnections.watch(server, () => this.#faults.report('Too many connections are open: the oldest without a token was cut.'));
    return server
      .on('connection', (socket: Socket) => this.#pendingConnections.add(socket))
      .on('request', (request, response) => this.#answerPlainRequest(request, response))
      .on('upgrade', (request, stream, head) => this.#upgrade(request, stream, head));
  }

  #upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const { slots, logger, finder } = this.#options;
    stream.on('error', (error) => logger.debug('A connection failed.', { error: error.message }));
    const admission = admit(request, { slots, hosts: this.#hosts, finder });
    if ('refusal' in admission) return this.#refuse(stream, admission.refusal, request);
    const open = (): Promise<WebSocket> => this.#open(request, stream, head);
    this.#take(request, { ...admission, stream, open }).catch((error: unknown) => {
      logger.warn('A page could not be taken in.', { error: messageOf(error) });
      stream.destroy();
    });
  }

  async #take(
    request: IncomingMessage,
    visitor: (Visitor & { slot: Slot }) | (Omit<Visitor, 'origin'> & { query: SlotQuery }),
  ): Promise<void> {
    // Whoever holds a good token may wait, as long as it takes.
    if ('slot' in visitor) this.#trust(request.socket);
    if (!(await this.#gate.admits(request.socket))) return this.#refuse(visitor.stream, otherUser, request);
    if (!('slot' in visitor)) return this.#acceptFound(request, visitor);
    const { slot, ...page } = visitor;
    return slot.accept(page);
  }

  /** The slot comes from another hub, if it may. */
  async #acceptFound(request: IncomingMessage, { query, ...visitor }: Omit<Visitor, 'origin'> & { query: SlotQuery }): Promise<void> {
    const { finder } = this.#options;
    if (finder?.knows(query.digest) === true) this.#trust(request.socket);
    const found = (await finder?.find(query)) ?? 'unknown';
    if (typeof found === 'object') {
      this.#trust(request.socket);
      return found.slot.accept({ ...visitor, origin: query.origin });
    }
    if (found !== 'busy' && found !== 'later') return this.#refuse(visitor.stream, refuseFound(found).refusal, request);
    const socket = await visitor.open();
    socket.on('error', () => {});
    // Pages dial again after the one code, and not after the other.
    if (found === 'busy') socket.close(busyCode, busyReason);
    else socket.close(laterCode, 'Try again');
  }

  #trust(socket: Socket): void {
    this.#pendingConnections.release(socket);
    ownConnections.trust(socket);
  }

  /** Completes the handshake. Rejects if the page has left, or does not speak WebSocket after all and was answered so. */
  async #open(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<WebSocket> {
    this.#webSockets ??= createWebSockets(this.#options.maxMessageBytes);
    const webSockets = await this.#webSockets;
    return new Promise((resolve, reject) => {
      const onClose = (): void => reject(new BridgeError('closed', 'Its connection ended before the WebSocket was open.'));
      if (stream.destroyed) return onClose();
      stream.once('close', onClose);
      webSockets.handleUpgrade(request, stream, head, (socket) => {
        stream.off('close', onClose);
        resolve(socket);
      });
    });
  }

  #refuse(stream: Duplex, refusal: PageRefusal, { headers: { origin }, socket: { remoteAddress } }: IncomingMessage): void {
    const { why } = refusal;
    if (why !== undefined) {
      this.#options.onRefused?.({ door: 'page', reason: why, remoteAddress });
      this.#options.onRefusedPage?.({ why, origin });
    }
    this.#faults.report('A connection was refused.', { status: refusal.status, reason: refusal.reason, origin });
    const refuse = (): void => void stream.end(toRefusalText(refusal), () => stream.destroy());
    if (!refusal.failedToken) return refuse();
    // Too many wrong tokens wait already: the connection is closed without a response.
    void this.#authBackoff.wait().then((mayAnswer) => (mayAnswer ? refuse() : stream.destroy()));
  }

  #answerPlainRequest(request: IncomingMessage, response: ServerResponse): void {
    const fault = findHeadFault(request, { hosts: this.#hosts, allowsOrigin: () => true });
    if (fault === undefined && this.#options.answerPlain?.(request, response) === true) return;
    const status = fault === 'wrong_host' ? 403 : fault !== undefined ? 400 : pathOf(request) === '/' ? 426 : 404;
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close', upgrade: 'websocket' });
    response.end(`${STATUS_CODES[status]}. Notebook pages connect here by WebSocket; there is nothing to see.\n`);
  }
}

/** Loads the WebSocket library with the first page: an agent need not wait for it to read the list of tools. */
async function createWebSockets(maxPayload: number): Promise<WebSocketServer> {
  const ws = await import('ws');
  // `closeTimeout` is missing in the types of ws.
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    maxPayload,
    perMessageDeflate: false,
    closeTimeout: closeTimeoutMs,
    handleProtocols: () => pageSubprotocol,
  };
  return new ws.WebSocketServer(options);
}

function toRefusalText({ status, reason }: PageRefusal): string {
  const body = `${reason}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
