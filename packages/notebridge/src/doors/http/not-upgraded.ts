import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** True if all that is offered is to go on in another version of HTTP, which is not spoken here: an offer that a server may pass over. */
export function offersHttpOnly({ headers: { upgrade = '' } }: IncomingMessage): boolean {
  return upgrade.split(',').every((protocol) => /^(h2c|http\/[\d.]+)$/i.test(protocol.trim()));
}

/** What makes a request one to upgrade: words of `Connection`, and headers. */
const ofUpgrades = new Set(['upgrade', 'http2-settings']);

/**
 * Returns a function that serves like any other a request that Node has taken for an upgrade. Java's client, and curl with `--http2`, offer
 * HTTP/2 with every request. The connection begins anew with the same bytes but the offer. Call it before other listeners of
 * connections are added: they have already received this one.
 */
export function serveAnew(server: Server): (request: IncomingMessage, socket: Socket, head: Buffer) => void {
  const [listener] = server.listeners('connection');
  return (request, socket, head) => {
    socket.unshift(Buffer.concat([headWithoutOffer(request), head]));
    listener?.call(server, socket);
  };
}

function headWithoutOffer({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    if (ofUpgrades.has(name.toLowerCase())) continue;
    lines.push(`${name}: ${name.toLowerCase() === 'connection' ? withoutOffer(value) : value}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function withoutOffer(connection: string): string {
  const words = connection.split(',').map((word) => word.trim());
  return words.filter((word) => !ofUpgrades.has(word.toLowerCase())).join(', ');
}
