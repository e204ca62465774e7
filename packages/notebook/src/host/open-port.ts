import type { Server } from 'node:http';
import { errnoOf } from '@notebridge/kit/errno';
import { type BoundServers, bindLoopback } from '@notebridge/kit/loopback';
import { messageOf } from '@notebridge/kit/message-of';
import { HostError } from '../session/host-error.js';

/** Listens on both loopback addresses, port 0 for any. Rejects with `port_in_use`. */
export async function openPort(createServer: () => Server, port: number): Promise<BoundServers> {
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
