import type { Server } from 'node:http';
import { BridgeError, messageOf } from '../core/errors.js';
import { errnoOf } from '../util/errno.js';

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
export async function bindLoopback(createServer: () => Server, { port, describePortOwner }: BindOptions): Promise<BoundServers> {
  for (let attempt = 1; ; attempt++) {
    const first = createServer();
    try {
      const bound = await listen(first, port, '127.0.0.1');
      const second = await listenOnIpv6(createServer(), bound);
      return { port: bound, servers: second === undefined ? [first] : [first, second] };
    } catch (error) {
      first.close();
      first.closeAllConnections();
      if (errnoOf(error) !== 'EADDRINUSE')
        throw new BridgeError('port_in_use', `Cannot listen on 127.0.0.1:${port}: ${messageOf(error)}`, { cause: error });
      if (port === 0 && attempt < tries) continue;
      const owner = await describePortOwner?.(port);
      throw new BridgeError(
        'port_in_use',
        `Port ${port} is taken${owner === undefined ? '' : ` by ${owner}`}. End it, choose another --port, or leave --port out.`,
        { data: { port, ...(owner === undefined ? {} : { owner }) }, cause: error },
      );
    }
  }
}

/** Undefined on a machine that has no IPv6. */
async function listenOnIpv6(server: Server, port: number): Promise<Server | undefined> {
  try {
    await listen(server, port, '::1');
    return server;
  } catch (error) {
    if (errnoOf(error) === 'EADDRINUSE') throw error;
    return undefined;
  }
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
