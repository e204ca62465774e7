import { createServer, type IncomingMessage, request as requestOf, type Server, type ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import type { Cancellation } from '../../core/cancellation.js';
import type { RelayedAnswer, RelayedRequest } from '../mcp/session-relay.js';

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
