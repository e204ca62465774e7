import type { Server } from 'node:http';
import { errnoOf } from '@notebridge/protocol/util/errno';

/**
 * Connections that wait until a busy process takes them; the system may allow fewer. With Node's 511, of thousands of pages that dial at once
 * Linux resets some after seconds, though they saw themselves connected.
 */
export const listenBacklog = 4096;

export interface BoundServers {
  port: number;
  servers: Server[];
}

/** A port that is free on one family may be taken on the other; then another is tried. */
const tries = 10;

/**
 * Listens on 127.0.0.1 and ::1 on the same port, 0 for any: `localhost` is either. A machine without IPv6 has only the first.
 * Rejects with the error of the system, which is `EADDRINUSE` for a port that is taken on one of the two.
 */
export async function bindLoopback(createServer: () => Server, port: number): Promise<BoundServers> {
  for (let attempt = 1; ; attempt++) {
    const first = createServer();
    try {
      const bound = await listen(first, port, '127.0.0.1');
      const second = await listenOnIpv6(createServer(), bound);
      return { port: bound, servers: second === undefined ? [first] : [first, second] };
    } catch (error) {
      first.close();
      first.closeAllConnections();
      if (errnoOf(error) !== 'EADDRINUSE' || port !== 0 || attempt >= tries) throw error;
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
    server.listen({ port, host, exclusive: true, backlog: listenBacklog }, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
