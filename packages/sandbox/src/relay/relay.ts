import { createServer, type IncomingMessage, request as requestServer, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream';
import { createReach, type Reach, RelayRefusal, type RelaySeam } from './reach.js';

export interface RelayOptions {
  /** Entries of `--allow-net`. */
  allow: readonly string[];
  /** Of code, and as many to servers. Default: 64. */
  maxConnections?: number | undefined;
  /** Without a byte. Default: five minutes. */
  idleTimeoutMs?: number | undefined;
  /** @internal */
  seam?: RelaySeam | undefined;
}

export interface Relay {
  /** Listens on a socket of this path, which whoever may open it can use. */
  listen(path: string): Promise<void>;
  close(): Promise<void>;
}

/** They are between one connection and its proxy. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** An HTTP proxy that reaches allowed servers on public addresses, and nothing else. Throws for an entry that names no server. */
export function createRelay({ allow, maxConnections = 64, idleTimeoutMs = 300_000, seam = {} }: RelayOptions): Relay {
  const reachOne = createReach(allow, seam);
  const open = new Set<Duplex>();
  const keep = <S extends Duplex>(socket: S, onClose = () => {}): S => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      onClose();
    });
    return socket;
  };

  let reaching = 0;
  /** A connection may bring many requests at once, and each would have a connection of its own. */
  const reach: Reach = async (host, port) => {
    if (reaching >= maxConnections) throw new RelayRefusal(503, `There are ${maxConnections} connections already, and no more at once.`);
    reaching++;
    let target: Socket | undefined;
    try {
      target = keep(await reachOne(host, port), () => reaching--);
      return target.setTimeout(idleTimeoutMs, () => target?.destroy());
    } finally {
      if (!target) reaching--;
    }
  };
  const server: Server = createServer({ maxHeaderSize: 16 * 1024 });
  server.maxConnections = maxConnections;
  server.on('connection', (socket) => {
    keep(socket).setTimeout(idleTimeoutMs, () => socket.destroy());
    socket.on('error', () => {});
  });
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    client.on('error', () => {});
    const [, host = '', port = ''] = /^(\[[0-9a-f:.]+\]|[^:[\]/@\s]+):(\d{1,5})$/i.exec(request.url ?? '') ?? [];
    const joined = host === '' ? Promise.reject(new RelayRefusal(400, 'CONNECT needs HOST:PORT.')) : reach(host, Number(port));
    joined.then(
      (target) => {
        if (client.destroyed) return void target.destroy();
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        if (head.length > 0) target.write(head);
        pipeline(client, target, () => target.destroy());
        pipeline(target, client, () => client.destroy());
      },
      (error: unknown) => {
        const { status, message } = toRefusal(error);
        client.end(
          `HTTP/1.1 ${status} Refused\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(message)}\r\nConnection: close\r\n\r\n${message}`,
        );
      },
    );
  });
  server.on('request', (request, response) => {
    forward(request, response, reach).catch((error: unknown) => {
      const { status, message } = toRefusal(error);
      if (response.headersSent) return void response.destroy();
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(message);
      request.resume();
    });
  });
  server.on('clientError', (_error, socket) => socket.destroy());

  return {
    listen: (path) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(path, () => {
          server.off('error', reject).on('error', () => {});
          server.unref();
          resolve();
        });
      }),
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** `GET http://host/path`, as clients send it to a proxy for what is not encrypted. */
async function forward(request: IncomingMessage, response: ServerResponse, reach: Reach): Promise<void> {
  const url = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : undefined;
  if (url?.protocol !== 'http:' || url.username !== '' || url.password !== '')
    throw new RelayRefusal(400, 'This is a proxy: it takes CONNECT, and requests for http://HOST/PATH.');
  const target = await reach(url.hostname, Number(url.port || 80));
  // Nobody waits for it any more.
  if (response.destroyed) return void target.destroy();
  const named = (request.headers.connection ?? '').toLowerCase().split(/\s*,\s*/);
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !hopByHop.has(name) && !named.includes(name)));
  await new Promise<void>((resolve, reject) => {
    const onward = requestServer(
      {
        method: request.method,
        path: url.pathname + url.search,
        headers: { ...headers, host: url.host, connection: 'close' },
        createConnection: () => target,
      },
      (answer) => {
        const kept = Object.entries(answer.headers).filter(([name]) => !hopByHop.has(name));
        response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
        pipeline(answer, response, () => {
          target.destroy();
          resolve();
        });
      },
    );
    onward.on('error', (error) => reject(new RelayRefusal(502, `"${url.host}" did not answer: ${error.message}`)));
    response.on('close', () => onward.destroy());
    pipeline(request, onward, () => {});
  });
}

function toRefusal(error: unknown): RelayRefusal {
  return error instanceof RelayRefusal ? error : new RelayRefusal(502, error instanceof Error ? error.message : String(error));
}
