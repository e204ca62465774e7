import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Bounds the connections that others hold to this process: those without a valid token are closed first. */
export interface BoundedConnections {
  /** Counts the connections of a server from now on. */
  watch(server: Server): void;
  /** The connection has sent a valid token. Trusting twice is harmless. */
  trust(socket: Socket): void;
}

/** At most so many without a valid token; above that the oldest is closed. */
export function boundedConnections(max: number): BoundedConnections {
  const unproven = new Set<Socket>();
  return {
    watch: (server) => {
      server.on('connection', (socket: Socket) => {
        unproven.add(socket);
        socket.once('close', () => unproven.delete(socket));
        const [oldest] = unproven;
        if (unproven.size <= max || oldest === undefined) return;
        // Its descriptor is free at once, its `close` comes later: a connection that comes in between must close the next one.
        unproven.delete(oldest);
        oldest.destroy();
      });
    },
    trust: (socket) => void unproven.delete(socket),
  };
}
