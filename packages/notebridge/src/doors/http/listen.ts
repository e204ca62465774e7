import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import { listenOnLoopback } from '@notebridge/system/net/bind';
import { ownConnections } from '@notebridge/system/net/connections';
import { FaultLog } from '@notebridge/system/net/fault-log';
import { listenBacklog } from '@notebridge/system/net/loopback';
import type { HttpApp } from './http-app.js';

export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface ListenOptions {
  /** 0 for any free port. */
  port: number;
  /** An address of this machine. Default: 127.0.0.1 and ::1, on the same port. */
  host?: string | undefined;
  /** Finds out who holds a port, for the error. */
  describePortOwner?: ((port: number) => Promise<string | undefined> | string | undefined) | undefined;
  /** Takes requests to upgrade, but for offers of another HTTP; left out, they are answered like any other. */
  onUpgrade?: UpgradeHandler | undefined;
  /** Called with each connection as it is made. */
  onConnection?: ((socket: Socket) => void) | undefined;
  timeouts?: Partial<ListenTimeouts> | undefined;
}

/** All in milliseconds. */
export interface ListenTimeouts {
  /** Until the headers of a request have come. Default 5 s. */
  headersMs: number;
  /** Until all of a request has come, body included. Default 60 s. */
  requestMs: number;
  /** How long a connection is kept without a request. Default 5 min: a kernel thinks between two calls. */
  keepAliveMs: number;
}

export interface HttpListener {
  readonly port: number;
  /** Frees the port, lets running calls end and their answers leave for a moment, then cancels them. Ready within 2 s; closing twice is harmless. */
  close(): Promise<void>;
}

const defaultTimeouts: ListenTimeouts = { headersMs: 5000, requestMs: 60_000, keepAliveMs: 300_000 };
/** How often the clocks of requests are looked at: a time-out comes so much later at most. Milliseconds. */
const lookEveryMs = 1000;
/** How long running calls may still end by themselves, and how long cancelled ones may take to respond. Milliseconds. */
const lastAnswersMs = 1200;
const lastWordsMs = 500;
/** How long a hub that has drained refuses what comes when nothing else is left to do, and then what is just coming. Milliseconds. */
const lastRefusalsMs = 250;

/** Serves the app. Rejects with `port_in_use`, naming who holds the port. */
export async function listenHttp(app: HttpApp, options: ListenOptions): Promise<HttpListener> {
  const upgraded = new Set<Duplex>();
  const faults = new FaultLog(app.logger);
  const onCut = (): void => faults.report('Too many connections are open: the oldest without a token was cut.');
  const create = (): Server => {
    const server = createHttpServer(app, options, { upgraded, faults });
    ownConnections.watch(server, onCut);
    return server;
  };
  const { port, servers } =
    options.host === undefined ? await listenOnLoopback(create, options) : await bindHost(create(), { ...options, host: options.host });
  let closing: Promise<void> | undefined;
  return {
    port,
    close: () => {
      closing ??= closeServers(app, servers, upgraded);
      return closing;
    },
  };
}

function createHttpServer(
  app: HttpApp,
  { onUpgrade, onConnection, timeouts }: ListenOptions,
  { upgraded, faults }: { upgraded: Set<Duplex>; faults: FaultLog },
): Server {
  const { headersMs, requestMs, keepAliveMs } = { ...defaultTimeouts, ...timeouts };
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: Math.max(headersMs, requestMs),
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.min(lookEveryMs, headersMs),
    maxHeaderSize: 32_768,
    noDelay: true,
  });
  const serveUnchanged = serveAnew(server);
  // All of a head that fits are looked at, so that none hides behind 2,000 others.
  server.maxHeadersCount = 0;
  const turns = new AnswersInTurn();
  server.on('request', (request, response) => {
    const { socket } = request;
    // It came in one piece with those that were too many.
    if (socket.destroyed) return;
    if (turns.begin(socket, response)) return app.handle(request, response);
    faults.report('A connection asked for more answers at once than may wait on it, and was cut.');
    socket.destroy();
  });
  // Whatever else it expects, it gets the answer of its route.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', (error, socket) => (turns.isTurnOfUnreadable(socket) ? answerUnreadable(error, socket) : socket.destroy()));
  // Until it listens, a failure is thrown to the caller.
  server.once('listening', () => {
    server.on('error', (error) => app.logger.warn('The HTTP port failed.', { error: error.message }));
  });
  if (onConnection !== undefined) server.on('connection', onConnection);
  if (onUpgrade !== undefined) {
    server.on('upgrade', (request, socket: Socket, head) => {
      if (!turns.isTurnOfUnreadable(socket)) return void socket.destroy();
      if (offersHttpOnly(request)) return serveUnchanged(request, socket, head);
      upgraded.add(socket);
      socket.on('close', () => upgraded.delete(socket));
      socket.on('error', (error) => app.logger.debug('A connection failed.', { error: error.message }));
      onUpgrade(request, socket, head);
    });
  }
  return server;
}

async function bindHost(server: Server, options: ListenOptions & { host: string }): Promise<{ port: number; servers: Server[] }> {
  const { port, host, describePortOwner } = options;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host, exclusive: true, backlog: listenBacklog }, resolve);
    });
  } catch (error) {
    const owner = errnoOf(error) === 'EADDRINUSE' ? await describePortOwner?.(port) : undefined;
    const why = owner === undefined ? messageOf(error) : `it is taken by ${owner}`;
    throw new BridgeError('port_in_use', `Cannot listen on ${host}, port ${port}: ${why}. Choose another --host or --port.`, {
      data: { port, ...(owner === undefined ? {} : { owner }) },
      cause: error,
    });
  }
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : port, servers: [server] };
}

/** What is no HTTP, or came too slowly, gets an error response if one can still be sent. */
function answerUnreadable(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || socket.destroyed || error.code === 'ECONNRESET') return void socket.destroy();
  const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const body = JSON.stringify({ detail: `${STATUS_CODES[status]}.` });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n`;
  socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`, () => socket.destroy());
}

async function closeServers(app: HttpApp, servers: readonly Server[], upgraded: ReadonlySet<Duplex>): Promise<void> {
  // Callers that do not know of the drain yet are refused, and go elsewhere.
  if (app.isDraining) await delay(lastRefusalsMs);
  // The requests that have come by now are read first: on a connection that seems to be idle there may be a request, and its caller would not know what became of it.
  await new Promise((resolve) => setImmediate(resolve));
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
  for (const server of servers) server.closeIdleConnections();
  // A hub that drained has given them their time.
  if (!app.isDraining) await settlesWithin(app.calls.none(), lastAnswersMs);
  app.calls.cancelAll('The hub is closing.');
  await settlesWithin(app.calls.none(), lastWordsMs);
  // One that is just coming is refused, and its caller told so.
  if (app.isDraining) await settlesWithin(Promise.all(closed), lastRefusalsMs);
  // What was answered last is handed to the system before its connection is cut.
  await new Promise((resolve) => setImmediate(resolve));
  for (const server of servers) server.closeAllConnections();
  for (const socket of upgraded) socket.destroy();
  await Promise.all(closed);
}

/** Requests of one connection that may wait, one behind the other, for answers that are not out: each takes memory until it is read. */
const mostWaiting = 64;

/**
 * What each connection waits for. Answers leave in the order of their requests, so an error for bytes that are no request may only be
 * sent in its turn: in the middle of an answer it would break it, and before one it would be taken for it.
 */
class AnswersInTurn {
  /** The newest last; none that is out stands before one that is not. */
  readonly #waiting = new WeakMap<Duplex, ServerResponse[]>();

  /** Counts a request. False if its connection waits for too many. */
  begin(socket: Duplex, response: ServerResponse): boolean {
    let waiting = this.#waiting.get(socket);
    // When the newest is out, all are.
    if (waiting === undefined || isOut(waiting.at(-1))) waiting = [];
    else if (waiting.length >= mostWaiting) waiting = waiting.filter((each) => !isOut(each));
    waiting.push(response);
    this.#waiting.set(socket, waiting);
    return waiting.length <= mostWaiting;
  }

  /** True if it is the turn of what could not be read: nothing else waits for its answer, and it has none yet. */
  isTurnOfUnreadable(socket: Duplex): boolean {
    const waiting = this.#waiting.get(socket) ?? [];
    const last = waiting.at(-1);
    if (last === undefined) return true;
    // Of a request that was refused before its end, the end may come late or never.
    if (isOut(last)) return last.req.complete;
    return !last.req.complete && !last.headersSent && waiting.slice(0, -1).every(isOut);
  }
}

function isOut(response: ServerResponse | undefined): boolean {
  return response?.writableFinished === true;
}

/** True if all that is offered is to go on in another version of HTTP, which is not spoken here: an offer that a server may pass over. */
function offersHttpOnly({ headers: { upgrade = '' } }: IncomingMessage): boolean {
  return upgrade.split(',').every((protocol) => /^(h2c|http\/[\d.]+)$/i.test(protocol.trim()));
}

/** What makes a request one to upgrade: words of `Connection`, and headers. */
const ofUpgrades = new Set(['upgrade', 'http2-settings']);

/**
 * Returns a function that serves like any other a request that Node has taken for an upgrade. Java's client, and curl with `--http2`, offer
 * HTTP/2 with every request. The connection begins anew with the same bytes but the offer. Call it before other listeners of
 * connections are added: they have already received this one.
 */
function serveAnew(server: Server): (request: IncomingMessage, socket: Socket, head: Buffer) => void {
  const [listener] = server.listeners('connection');
  return (request, socket, head) => {
    socket.unshift(Buffer.concat([headWithoutOffer(request), head]));
    listener?.call(server, socket);
  };
}

function headWithoutOffer({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    if (ofUpgrades.has(name.toLowerCase())) continue;
    lines.push(`${name}: ${name.toLowerCase() === 'connection' ? withoutOffer(value) : value}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function withoutOffer(connection: string): string {
  const words = connection.split(',').map((word) => word.trim());
  return words.filter((word) => !ofUpgrades.has(word.toLowerCase())).join(', ');
}
