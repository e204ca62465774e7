import { createServer, type IncomingMessage, request as requestOf, type Server, type ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Principal } from '@notebridge/protocol/core/principal';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { HttpApp } from '../http/http-app.js';
import { HttpContext } from '../http/http-context.js';
import { receiveBody } from '../http/read-body.js';
import { faultOf, fromRefusal, type HttpFault, printFault } from './http-fault.js';
import type { RelayedAnswer, RelayedRequest, SessionRelay } from './session-relay.js';

/** What the door of agents reads. */
const passedHeaders = [
  'accept',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'traceparent',
  'tracestate',
  'x-request-id',
];

/** A reader that has stopped reading must not fill our memory; the largest answer of a tool fits. Bytes. */
const maxUnsentBytes = 128 * 1024 * 1024;

/** The id of a session says, by its end, at which hub it is. */
export function markOf(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

/** Hands a request on to the hub of its session, and its answer back. */
export function relayRequest(context: HttpContext, relay: SessionRelay, { app, mark }: { app: HttpApp; mark: string }): void {
  const { request, principal } = context;
  const send = (body: string): void => {
    const headers = Object.fromEntries(
      passedHeaders.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, String(request.headers[name])] as const])),
    );
    relayWhole(context, relay, { app, mark, relayed: { method: request.method ?? 'GET', headers, body, principal } });
  };
  if (request.method !== 'POST') return send('');
  receiveBody(request, app.maxBodyBytes, (body) => {
    if (body === undefined) return;
    if (typeof body === 'string') send(body);
    else context.refuse(fromRefusal(body));
  });
}

function relayWhole(
  context: HttpContext,
  relay: SessionRelay,
  { app, mark, relayed }: { app: HttpApp; mark: string; relayed: RelayedRequest },
): void {
  const { request, response } = context;
  const cancellation = new Cancellation();
  // A hub that ends waits for the calls that it relays, and for no stream that has no end.
  const running = relayed.method === 'GET' ? undefined : app.calls.add(request.socket, cancellation);
  response.on('close', () => cancellation.cancel('the agent closed the connection', { callerIsGone: true }));
  const answer = {
    head: (status: number, headers: Record<string, string>): void => {
      const own = new Set(context.headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
      const theirs = Object.entries(headers).filter(([name]) => !own.has(name));
      response.writeHead(status, [...context.headers, ...theirs.flat()]);
      response.flushHeaders();
    },
    data: (piece: Buffer): void => {
      if (response.writableLength > maxUnsentBytes) response.destroy();
      else response.write(piece);
    },
  };
  const fail = (error: unknown): void => {
    const fault = error instanceof BridgeError ? toFault(error) : undefined;
    // A stream that has begun is cut: its agent resumes it.
    if (response.headersSent) response.destroy();
    else if (fault === undefined) context.fail(error);
    else context.refuse(fault);
  };
  relay
    .send(mark, relayed, answer, cancellation)
    .then(() => void response.end(), fail)
    .finally(() => running && app.calls.remove(running, cancellation));
}

/** Undefined: as at other doors. Only what was certainly not begun may be sent again as it is: a proxy does so by itself. */
function toFault(error: BridgeError): HttpFault | undefined {
  switch (error.code) {
    case 'cluster_unavailable':
    case 'limit_reached':
      return { ...faultOf(503, error), headers: ['retry-after', '1'] };
    case 'hub_gone':
    case 'closed':
      return faultOf(409, error);
    case 'cancelled':
      return faultOf(409, lost(error));
    default:
      return undefined;
  }
}

function lost(cause: unknown): BridgeError {
  const message =
    'The connection to the hub of this session ended before the answer came. Whether the call had an effect is unknown; it was not repeated.';
  return new BridgeError('closed', message, { cause });
}

/** Answers what other hubs hand on, as if it came to this one. Returns the function that ends it. */
export function serveRelayed(relay: SessionRelay, { app, answer }: { app: HttpApp; answer: (context: HttpContext) => void }): () => void {
  const principals = new WeakMap<object, Principal>();
  const inner = new InnerServer((request, response) => {
    const context = new HttpContext(request, response, { logger: app.logger, corsHeaders: [], printRefusal: printFault });
    const principal = principals.get(request.socket);
    if (principal === undefined) return context.fail(new BridgeError('internal', 'A request was relayed for nobody.'));
    context.principal = principal;
    try {
      answer(context);
    } catch (error) {
      context.fail(error);
    }
  });
  return relay.serve((request, to, cancellation) => {
    const met = (socket: Duplex): void => void principals.set(socket, request.principal);
    return inner.put(request, { answer: to, cancellation, path: '/mcp', met }).catch((error: unknown) => {
      if (cancellation.reason === undefined) app.logger.debug('A request of another hub broke off.', { error: messageOf(error) });
      throw lost(error);
    });
  });
}

/** Of one connection between two hops: they are not the answer's. */
const hopHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date', 'content-length']);

/** A server without a port: what is put to it goes through Node's own HTTP on both sides, so that an answer, streams too, is exactly that of a port. */
export class InnerServer {
  readonly #server: Server;

  constructor(handle: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }, handle);
  }

  /** `met`: called with the server's end of the connection, before the request comes there. Resolves when all was answered; rejects if the connection broke. */
  put(
    { method, headers, body }: Pick<RelayedRequest, 'method' | 'headers' | 'body'>,
    { answer, cancellation, path, met }: { answer: RelayedAnswer; cancellation: Cancellation; path: string; met: (socket: Duplex) => void },
  ): Promise<void> {
    const [near, far] = createPair();
    met(far);
    this.#server.emit('connection', far);
    return new Promise((resolve, reject) => {
      const sent = requestOf({ createConnection: () => near, method, path, headers: { ...headers, host: 'localhost' } });
      const stop = cancellation.onCancel((reason) => sent.destroy(new Error(reason)));
      const fail = (error: Error): void => {
        stop();
        near.destroy();
        reject(error);
      };
      sent.on('error', fail).on('response', (response) => {
        answer.head(response.statusCode ?? 500, toHeaders(response));
        response.on('data', (piece: Buffer) => answer.data(piece));
        response.on('error', fail).on('end', () => {
          stop();
          near.destroy();
          resolve();
        });
      });
      sent.end(body);
    });
  }
}

function toHeaders({ headers }: IncomingMessage): Record<string, string> {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !hopHeaders.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

/** Two ends of one connection in memory. */
function createPair(): [Duplex, Duplex] {
  const [one, other] = [new End(), new End()];
  one.peer = other;
  other.peer = one;
  return [one, other];
}

class End extends Duplex {
  peer: End | undefined;
  #onRead: (() => void) | undefined;

  override _read(): void {
    const onRead = this.#onRead;
    this.#onRead = undefined;
    onRead?.();
  }

  override _write(piece: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.peer?.receive(piece, done);
  }

  override _final(done: () => void): void {
    this.peer?.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { peer } = this;
    this.peer = undefined;
    done(error);
    setImmediate(() => peer?.destroy());
  }

  /** The other end may write more when this one has room. */
  receive(piece: Buffer, done: () => void): void {
    if (this.destroyed || this.push(piece)) done();
    else this.#onRead = done;
  }
}
