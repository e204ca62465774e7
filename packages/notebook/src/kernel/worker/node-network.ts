import { type NetConnectOpts, Socket } from 'node:net';

/**
 * Lets this thread connect to the given origins and to nothing else. Node's permission model does not cover the network before
 * Node 25, and Python's sockets and everything built on `net` (http, tls, fetch, WebSockets) come through here.
 */
export function limitConnections(origins: readonly string[]): void {
  const allowed = new Set(origins.map(addressOf));
  const connect = Socket.prototype.connect;
  function limitedConnect(this: Socket, ...given: Parameters<typeof connect>): Socket {
    const { host = 'localhost', port, path } = optionsOf(given);
    const address = `${host.toLowerCase()}:${port}`;
    if (path !== undefined || !allowed.has(address)) throw new Error(`Connecting to "${path ?? address}": the notebook may not`);
    return connect.apply(this, given);
  }
  Object.defineProperty(Socket.prototype, 'connect', { value: limitedConnect, writable: false, configurable: false });
}

function addressOf(origin: string): string {
  const { hostname, port, protocol } = new URL(origin);
  return `${hostname.replace(/^\[|\]$/g, '')}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

type Options = { host?: string; port?: number | string; path?: string };

/** `connect` takes options, a port and a host, or (from within Node) a list that begins with options. */
function optionsOf(given: readonly unknown[]): Options {
  const first = Array.isArray(given[0]) ? given[0][0] : given[0];
  if (typeof first === 'object' && first !== null) return first as NetConnectOpts as Options;
  const port = Number(first);
  return Number.isNaN(port) ? { path: String(first) } : { port, ...(typeof given[1] === 'string' ? { host: given[1] } : {}) };
}
