import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { errnoOf } from '@notebridge/protocol/util/errno';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { createToken } from '@notebridge/protocol/util/token';
import { EntryGate } from '@notebridge/system/net/entry-gate';
import { type BoundServers, bindLoopback } from '@notebridge/system/net/loopback';
import { findHeadFault, hostsOf, pathOf } from '@notebridge/system/net/request-head';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { HostError } from '../session/host-error.js';
import { findRefusal, headRefusals, viewerSubprotocol, type WindowAccess, type WindowRefusal } from './admission.js';
import { type AnswerAsset, send, serveAssets } from './assets.js';
import { type BoundedConnections, boundedConnections } from './connections.js';
import { answerDoor, isDoor } from './entry-door.js';
import type { WindowSeat, WindowSeats } from './kept-files.js';
import { WindowTickets } from './window-tickets.js';

interface ViewerServerOptions extends WindowAccess {
  /** What windows prove to know: see `viewer/window-proof.ts`. */
  key: string;
  /** The folder of the UI's files. */
  uiFolder: string;
  /** Default 32. */
  maxWindows?: number | undefined;
  /** Of one message of a window. Default 16 MiB. */
  maxMessageBytes?: number | undefined;
  logger: Logger;
  /** `isUnseen`: it draws pictures, and no person looks at it. */
  onWindow: (socket: WebSocket, isUnseen: boolean) => void;
}

export interface WindowsPortOptions extends Omit<ViewerServerOptions, 'key' | 'uiFolder'> {
  uiFolder?: string | undefined;
  /** The real path of the notebook's file; one in memory keeps no seat. */
  notebook: string | undefined;
  seats?: WindowSeats | undefined;
  onSecret?: ((secret: string) => void) | undefined;
}

/** How long a client may take to send a request. Milliseconds. */
const requestMs = 5000;
const maxConnections = 256;
/** Wrong tickets in a row that cost nothing: a stale tab tries once or twice. */
const freeTries = 3;
const longestDelayMs = 2000;
const maxWaitingRefusals = 64;

/** Where the notebook's windows connect. */
export interface WindowsPort {
  readonly server: ViewerServer;
  /** A window was open when the program before this one ended: it comes back by itself. */
  readonly awaitsWindow: boolean;
  /** Keeps for the next program whether a window is open. */
  note(hasWindow: boolean): void;
  /** Resolves when what was noted is kept. */
  noted(): Promise<void>;
}

/**
 * Where the notebook's windows were last, with the key that they have, so that they come back by themselves. A port that somebody else took
 * meanwhile is given up with its key: a page of theirs may have read what the browser kept for that port. Rejects with `port_in_use` for a
 * port that was asked for.
 */
export async function openWindowsPort({ notebook, seats, ...options }: WindowsPortOptions): Promise<WindowsPort> {
  const kept = notebook === undefined ? undefined : await seats?.read(notebook).catch(() => undefined);
  const { server, key } = await openServer(kept, options);
  let seat: WindowSeat = kept?.key === key ? kept : { port: server.port, key, hasWindow: false };
  let writing: Promise<void> | undefined;
  const write = (): void => {
    const keep = (): Promise<void> | undefined => (notebook === undefined ? undefined : seats?.write(notebook, seat));
    writing = (writing ?? Promise.resolve()).then(keep).catch((error: unknown) => {
      options.logger.warn('Open windows will not find this notebook again after a restart.', { error: messageOf(error) });
    });
  };
  if (seat !== kept) write();
  await writing;
  return {
    server,
    awaitsWindow: seat.hasWindow,
    note(hasWindow) {
      if (hasWindow === seat.hasWindow) return;
      seat = { ...seat, hasWindow };
      write();
    },
    noted: async () => writing,
  };
}

async function openServer(
  kept: WindowSeat | undefined,
  { onSecret, ...options }: Omit<WindowsPortOptions, 'notebook' | 'seats'>,
): Promise<{ server: ViewerServer; key: string }> {
  const { port: wanted = 0, uiFolder = fileURLToPath(new URL('../ui/', import.meta.url)) } = options;
  const open = async ({ port, key }: Pick<WindowSeat, 'port' | 'key'>) => {
    onSecret?.(key);
    return { server: await ViewerServer.open({ ...options, uiFolder, port, key }), key };
  };
  if (kept !== undefined && (wanted === 0 || wanted === kept.port)) {
    try {
      return await open(kept);
    } catch (error) {
      if (wanted !== 0 || !(error instanceof HostError) || error.code !== 'port_in_use') throw error;
    }
  }
  return open({ port: wanted, key: createToken() });
}

/** Serves the UI, and lets windows in that know their key. */
class ViewerServer {
  readonly #options: ViewerServerOptions;
  readonly #answerAsset: AnswerAsset;
  readonly #webSockets: WebSocketServer;
  readonly #sockets = new Set<Socket>();
  readonly #connections: BoundedConnections;
  readonly #gate: EntryGate;
  readonly #tickets: WindowTickets;
  readonly #origins: ReadonlySet<string>;
  #hosts: ReadonlySet<string> = new Set();
  #servers: Server[] = [];
  #port = 0;
  #failedTokens = 0;
  #waitingRefusals = 0;

  private constructor(options: ViewerServerOptions, answerAsset: AnswerAsset) {
    this.#options = options;
    this.#answerAsset = answerAsset;
    this.#gate = new EntryGate({ typed: options.typedCodes });
    this.#tickets = new WindowTickets(options.key);
    this.#origins = new Set(options.allowOrigins ?? []);
    this.#connections = options.connections ?? boundedConnections(maxConnections);
    // `closeTimeout` is missing in the types of ws.
    const webSocketOptions: ServerOptions & { closeTimeout: number } = {
      noServer: true,
      clientTracking: true,
      maxPayload: options.maxMessageBytes ?? 16 * 1024 * 1024,
      perMessageDeflate: false,
      closeTimeout: 1000,
      handleProtocols: () => viewerSubprotocol,
    };
    this.#webSockets = new WebSocketServer(webSocketOptions);
  }

  /** Binds the port. Rejects with `port_in_use`. */
  static async open(options: ViewerServerOptions): Promise<ViewerServer> {
    const server = new ViewerServer(options, await serveAssets(options.uiFolder));
    const { port, servers } = await openPort(() => server.#createServer(), options.port ?? 0);
    server.#port = port;
    server.#servers = servers;
    server.#hosts = hostsOf(port, options.allowHosts ?? []);
    for (const each of servers) each.on('error', (error) => options.logger.warn('The port for windows failed.', { error: error.message }));
    return server;
  }

  get port(): number {
    return this.#port;
  }

  /** A code for an address, which is exchanged for the windows' key once, within so many milliseconds. */
  issueCode(lifeMs?: number): string {
    return this.#gate.issue(lifeMs);
  }

  /** Frees the port. Open windows are closed by their opener; what is left is cut. */
  async close(): Promise<void> {
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    this.#webSockets.close();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }

  #createServer(): Server {
    const limits = { headersTimeout: requestMs, requestTimeout: requestMs, connectionsCheckingInterval: 1000, maxHeaderSize: 16_384 };
    const server = createServer(limits);
    // All of a head that fits are looked at, so that none hides behind 2,000 others.
    server.maxHeadersCount = 0;
    this.#connections.watch(server);
    return server
      .on('connection', (socket: Socket) => this.#watch(socket))
      .on('request', (request, response) => this.#answer(request, response))
      .on('upgrade', (request, stream, head) => this.#upgrade(request, stream, head));
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = '' } = request;
    const fault = findHeadFault(request, { hosts: this.#hosts, allowsOrigin: () => true });
    if (fault !== undefined) {
      const { status, reason } = headRefusals[fault];
      return send(request, response, { status, body: `${reason}\n` });
    }
    if (request.headers['sec-fetch-site'] === 'cross-site' && request.headers['sec-fetch-mode'] !== 'navigate')
      return send(request, response, { status: 403, body: 'Other sites have nothing to look for here.\n' });
    if (method === 'POST' && isDoor(pathOf(request))) return this.#enter(request, response);
    if (method !== 'GET' && method !== 'HEAD')
      return send(request, response, {
        status: 405,
        headers: { allow: 'GET, HEAD', connection: 'close' },
        body: 'Only GET is answered here.\n',
      });
    this.#answerAsset(request, response, pathOf(request)).catch((error: unknown) => {
      this.#options.logger.error('A file of the UI could not be served.', { path: pathOf(request), error: String(error) });
      response.destroy();
    });
  }

  #enter(request: IncomingMessage, response: ServerResponse): void {
    const { key, logger } = this.#options;
    const later = (answerNow: () => void) => this.#slowDown(answerNow, () => response.destroy());
    const onRefused = (why: string) => this.#tellRefused(request, { why, reason: `The address of a window was refused: ${why}.` });
    const door = { gate: this.#gate, key, tickets: this.#tickets, origins: this.#origins, later, onRefused };
    answerDoor(request, response, door).catch((error: unknown) => {
      logger.debug('An entry failed.', { error: String(error) });
      response.destroy();
    });
  }

  #upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const { logger } = this.#options;
    stream.on('error', (error) => logger.debug('A connection failed.', { error: error.message }));
    const refusal = findRefusal(request, { hosts: this.#hosts, origins: this.#origins, tickets: this.#tickets });
    if (refusal) return this.#refuse(stream, refusal, request);
    this.#admit(request, stream, head).catch((error: unknown) => {
      logger.debug('A window could not be let in.', { error: String(error) });
      stream.destroy();
    });
  }

  /** The key lives longer than this program, in what a browser keeps for the port: one that is not this user's has to come by an address, or type a code. */
  async #admit(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const { maxWindows = 32 } = this.#options;
    if (!(await this.#gate.admits(request.socket))) return this.#refuse(stream, otherUser, request);
    if (this.#webSockets.clients.size >= maxWindows) return this.#refuse(stream, tooMany(maxWindows), request);
    this.#sockets.delete(request.socket);
    this.#connections.trust(request.socket);
    this.#webSockets.handleUpgrade(request, stream, head, (socket) =>
      this.#options.onWindow(socket, new URLSearchParams(request.url?.split('?')[1]).has('unseen')),
    );
  }

  /** Slows down clients that guess; the holder of the right key never waits. */
  #refuse(stream: Duplex, refusal: WindowRefusal, request: IncomingMessage): void {
    this.#tellRefused(request, refusal);
    const refuse = (): void => void stream.end(toRefusalText(refusal), () => stream.destroy());
    if (!refusal.failedToken) return refuse();
    this.#slowDown(refuse, () => stream.destroy());
  }

  #tellRefused({ headers: { origin }, socket: { remoteAddress } }: IncomingMessage, refused: { reason: string; why?: string }): void {
    const { logger, onRefused } = this.#options;
    const { reason, why } = refused;
    // A listener that counts them spares the log a line for each of a flood.
    if (why !== undefined && onRefused !== undefined) onRefused(why, remoteAddress);
    else logger.warn('A window was refused.', { reason, origin: origin?.slice(0, 200) });
  }

  #slowDown(refuse: () => void, drop: () => void): void {
    const extra = ++this.#failedTokens - freeTries;
    if (extra <= 0) return refuse();
    if (this.#waitingRefusals >= maxWaitingRefusals) return drop();
    this.#waitingRefusals++;
    setTimeout(
      () => {
        this.#waitingRefusals--;
        refuse();
      },
      Math.min(longestDelayMs, 100 * 2 ** Math.min(extra, 10)),
    ).unref();
  }
}

const otherUser: WindowRefusal = {
  status: 403,
  reason: 'A window of another user opens by an address of Notebridge, or a code.',
  failedToken: false,
  why: 'other_user',
};

function tooMany(maxWindows: number): WindowRefusal {
  return { status: 503, reason: `${maxWindows} windows are open on this notebook already. Close one.`, failedToken: false };
}

function toRefusalText({ status, reason }: WindowRefusal): string {
  const body = `${reason}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Listens on both loopback addresses, port 0 for any. Rejects with `port_in_use`. */
async function openPort(createServer: () => Server, port: number): Promise<BoundServers> {
  try {
    return await bindLoopback(createServer, port);
  } catch (error) {
    const message =
      errnoOf(error) === 'EADDRINUSE'
        ? `Port ${port} is taken. End the program that uses it, choose another port, or leave it out.`
        : `Cannot listen on 127.0.0.1:${port}: ${messageOf(error)}`;
    throw new HostError('port_in_use', message, { data: { port }, cause: error });
  }
}
