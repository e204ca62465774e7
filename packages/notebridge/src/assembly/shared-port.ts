import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { PageDoor, PagePort } from '../notebooks/pages/page-listener.js';

/** The hub's one port as a notebook's pages see it. */
export interface SharedPort {
  onConnection: (socket: Socket) => void;
  onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** A request for a page of the notebook's own. False if there is no such page. */
  onRequest: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** The port once it is bound. */
  at(port: number, hosts: readonly string[]): PagePort;
}

/** Hands connections to the notebook that is attached; without one, nothing can be upgraded here. */
export function createSharedPort(): SharedPort {
  let door: PageDoor | undefined;
  return {
    onConnection: (socket) => door?.connected(socket),
    onUpgrade: (request, socket, head) => {
      if (door !== undefined) return door.upgrade(request, socket, head);
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n', () => socket.destroy());
    },
    onRequest: (request, response) => door?.request(request, response) === true,
    at: (port, hosts) => ({
      port,
      hosts,
      attach: (attached) => {
        door = attached;
        return () => {
          if (door === attached) door = undefined;
        };
      },
    }),
  };
}
