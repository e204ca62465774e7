import dgram from 'node:dgram';
import net from 'node:net';

/**
 * Lets this thread connect to nothing and listen nowhere: what Python may fetch, the main thread fetches. Node's permission
 * model does not cover the network before Node 25, and Python's sockets and everything built on `net` come through here.
 */
export function refuseNetwork(): void {
  const refuse = () => {
    throw new Error("Using the network: Python's thread may not");
  };
  for (const [prototype, names] of [
    [net.Socket.prototype, ['connect']],
    [net.Server.prototype, ['listen']],
    [dgram.Socket.prototype, ['bind', 'connect', 'send', 'sendto']],
  ] as const)
    for (const name of names) Object.defineProperty(prototype, name, { value: refuse, writable: false, configurable: false });
}
