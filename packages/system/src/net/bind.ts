import type { Server } from 'node:http';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { type BoundServers, bindLoopback } from './loopback.js';

export interface BindOptions {
  /** 0 for any free port. */
  port: number;
  /** Finds out who holds a port, for the error. */
  describePortOwner?: ((port: number) => Promise<string | undefined> | string | undefined) | undefined;
}

/**
 * Listens on 127.0.0.1 and ::1 on the same port: a page dials `localhost`, which is either. A machine without IPv6 has only
 * the first. Rejects with `port_in_use`.
 */
export async function listenOnLoopback(createServer: () => Server, { port, describePortOwner }: BindOptions): Promise<BoundServers> {
  try {
    return await bindLoopback(createServer, port);
  } catch (error) {
    if (errnoOf(error) !== 'EADDRINUSE')
      throw new BridgeError('port_in_use', `Cannot listen on 127.0.0.1:${port}: ${messageOf(error)}`, { cause: error });
    const owner = await describePortOwner?.(port);
    throw new BridgeError(
      'port_in_use',
      `Port ${port} is taken${owner === undefined ? '' : ` by ${owner}`}. End it, choose another --port, or leave --port out.`,
      { data: { port, ...(owner === undefined ? {} : { owner }) }, cause: error },
    );
  }
}
