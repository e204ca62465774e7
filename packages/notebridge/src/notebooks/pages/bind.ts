import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import { BridgeError, messageOf } from '../../core/errors.js';

export interface BindOptions {
  /** 0 for any free port. */
  port: number;
  /** Tells who holds a port, for the error. */
  describePortOwner?: ((port: number) => Promise<string | undefined> | string | undefined) | undefined;
}

export interface BoundServers {
  port: number;
  servers: Server[];
}

/** Free ports on one family may be taken on the other; then another is tried. */
const tries = 10;

/**
 * Listens on 127.0.0.1 and ::1 on the same port: a page dials `localhost`, which is either. A machine without IPv6 has only
 * the first. Rejects with `port_in_use`.
 */
export async function bindLoopback(onRequest: RequestListener, { port, describePortOwner }: BindOptions): Promise<BoundServers> {
  for (let attempt = 1; ; attempt++) {
    const first = createLimitedServer(onRequest);
    const second = createLimitedServer(onRequest);
    try {
      const bound = await listen(first, port, '127.0.0.1');
      const hasIpv6 = await listen(second, bound, '::1').then(
        () => true,
        (error: unknown) => {
          if (errnoOf(error) === 'EADDRINUSE') throw error;
          return false;
        },
      );
      return { port: bound, servers: hasIpv6 ? [first, second] : [first] };
    } catch (error) {
      first.close();
      if (errnoOf(error) !== 'EADDRINUSE')
        throw new BridgeError('port_in_use', `Cannot listen on 127.0.0.1:${port}: ${messageOf(error)}`, { cause: error });
      if (port === 0 && attempt < tries) continue;
      const owner = await describePortOwner?.(port);
      throw new BridgeError(
        'port_in_use',
        `Port ${port} is taken${owner === undefined ? '' : ` by ${owner}`}. End it, choose another --port, or leave --port out.`,
        {
          data: { port, ...(owner === undefined ? {} : { owner }) },
          cause: error,
        },
      );
    }
  }
}

/** Bounds what a stranger can hold open before a word is said. */
function createLimitedServer(onRequest: RequestListener): Server {
  const server = createServer(
    { headersTimeout: 5000, requestTimeout: 5000, connectionsCheckingInterval: 1000, maxHeaderSize: 16_384 },
    onRequest,
  );
  server.maxConnections = 256;
  return server;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function errnoOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
