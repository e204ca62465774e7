import { lookup as lookUpName } from 'node:dns/promises';
import { createServer, type IncomingMessage, request as requestServer, type Server, type ServerResponse } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream';
import { parseAllowedServers } from './allowed-servers.js';
import { isPublicAddress } from './public-address.js';

export interface RelayOptions {
  /** Entries of `--allow-net`. */
  allow: readonly string[];
  /** Default: 64. */
  maxConnections?: number | undefined;
  /** Without a byte. Default: five minutes. */
  idleTimeoutMs?: number | undefined;
  /** @internal For tests, whose servers are on loopback: how names are looked up, and which addresses may be connected to. */
  seam?: RelaySeam | undefined;
}

export interface RelaySeam {
  lookup?: (host: string) => Promise<readonly string[]>;
  mayConnect?: (address: string) => boolean;
}

export interface Relay {
  /** Listens on a socket of this path, which whoever may open it can use. */
  listen(path: string): Promise<void>;
  close(): Promise<void>;
}

const connectTimeoutMs = 20_000;
const lookupTimeoutMs = 10_000;
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

class Refusal extends Error {
  readonly status: number;

  constructor(status: 400 | 403 | 502, message: string) {
    super(message);
    this.status = status;
  }
}

/** An HTTP proxy that reaches allowed servers on public addresses, and nothing else. Throws for an entry that names no server. */
export function createRelay({ allow, maxConnections = 64, idleTimeoutMs = 300_000, seam = {} }: RelayOptions): Relay {
  const servers = parseAllowedServers(allow);
  const { lookup = lookUpAll, mayConnect = isPublicAddress } = seam;
  const open = new Set<Duplex>();
  const keep = <S extends Duplex>(socket: S): S => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    return socket;
  };

  /** A connection to an address that was checked. */
  const reach = async (host: string, port: number): Promise<Socket> => {
    if (!servers.includes(host, port)) {
      const what = port === 443 || port === 80 ? host : `${host}:${port}`;
      throw new Refusal(403, `"${what}" is not one of the servers that code may reach. Notebridge allows it with: --allow-net ${what}`);
    }
    const bare = host.replace(/^\[(.*)\]$/, '$1');
    const addresses = isIP(bare) ? [bare] : await lookup(bare).catch(() => []);
    if (addresses.length === 0) throw new Refusal(502, `There is no address of "${host}".`);
    const inward = addresses.find((address) => !mayConnect(address));
    if (inward !== undefined)
      throw new Refusal(403, `"${host}" is at ${inward}, which is no address of the public Internet; code never reaches those.`);
    return dial(addresses, port, host);
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
    const joined = host === '' ? Promise.reject(new Refusal(400, 'CONNECT needs HOST:PORT.')) : reach(host, Number(port));
    joined.then(
      (target) => {
        if (client.destroyed) return void target.destroy();
        keep(target).setTimeout(idleTimeoutMs, () => target.destroy());
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
    forward(request, response, reach, keep).catch((error: unknown) => {
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
async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  reach: (host: string, port: number) => Promise<Socket>,
  keep: (socket: Socket) => Socket,
): Promise<void> {
  const url = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : undefined;
  if (url?.protocol !== 'http:' || url.username !== '' || url.password !== '')
    throw new Refusal(400, 'This is a proxy: it takes CONNECT, and requests for http://HOST/PATH.');
  const target = keep(await reach(url.hostname, Number(url.port || 80)));
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
    onward.on('error', (error) => reject(new Refusal(502, `"${url.host}" did not answer: ${error.message}`)));
    response.on('close', () => onward.destroy());
    pipeline(request, onward, () => {});
  });
}

async function lookUpAll(host: string): Promise<string[]> {
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('late')), lookupTimeoutMs).unref());
  const found = await Promise.race([lookUpName(host, { all: true }), late]);
  return found.map(({ address }) => address);
}

/** The first of the addresses that answers. */
async function dial(addresses: readonly string[], port: number, host: string): Promise<Socket> {
  let reason = 'it took too long';
  for (const address of addresses.slice(0, 4))
    try {
      return await dialOne(address, port);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  throw new Refusal(502, `"${host}" cannot be reached: ${reason}`);
}

function dialOne(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const timer = setTimeout(() => socket.destroy(new Error('it took too long')), connectTimeoutMs / 2);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', reject).on('error', () => {});
      resolve(socket);
    });
    socket.once('error', reject).once('error', () => clearTimeout(timer));
  });
}

function toRefusal(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal(502, error instanceof Error ? error.message : String(error));
}
