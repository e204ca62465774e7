import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { HttpDoorOptions } from './options.js';

/** Where a hub listens, and under which names it is called. */
export interface ListeningPlace {
  /** Undefined: both loopback addresses. */
  host: string | undefined;
  /** Values of `Host` besides the loopback ones. */
  hosts: string[];
  toUrl(port: number): string;
  /** The same as other machines reach it, as good as can be known. */
  toOutsideUrl(port: number): string;
  /** What the person has to know. */
  warnings: string[];
}

/** Looks at `host` and `auth` together. @throws BridgeError `bad_usage` for a hub without tokens that others can reach. */
export function toListeningPlace({ host, auth = true }: Pick<HttpDoorOptions, 'host' | 'auth'>): ListeningPlace {
  const isLoopback = host === undefined || ['localhost', '::1', '[::1]'].includes(host) || /^127\.\d+\.\d+\.\d+$/.test(host);
  const noAuth = 'No token is required (--no-auth): every program on this machine can call every tool.';
  if (isLoopback) {
    const own = host?.startsWith('127.') === true && host !== '127.0.0.1' ? host : undefined;
    const toUrl = urlOf(own ?? '127.0.0.1');
    return { host: own, hosts: own === undefined ? [] : [own], toUrl, toOutsideUrl: toUrl, warnings: auth ? [] : [noAuth] };
  }
  if (!auth) {
    throw new BridgeError(
      'bad_usage',
      `--no-auth cannot be combined with --host ${host}: anyone on the network could call your tools. Leave one of the two out.`,
    );
  }
  const address = host.replace(/^\[|\]$/g, '');
  const isEvery = address === '0.0.0.0' || address === '::';
  const tls = `Listening on ${address} without encryption: tokens and results can be read on the way. Put a proxy with TLS in front of it.`;
  const names = 'Calls must name this machine as localhost, or by a name of --allow-host.';
  return {
    host: address,
    hosts: isEvery ? [] : [bracketed(address)],
    toUrl: urlOf(isEvery ? '127.0.0.1' : address),
    toOutsideUrl: urlOf(isEvery ? (addressOfMachine() ?? '127.0.0.1') : address),
    warnings: isEvery ? [tls, names] : [tls],
  };
}

/** Of several the first: which of them others reach is not known here. */
function addressOfMachine(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
}

const bracketed = (address: string): string => (isIPv6(address) ? `[${address}]` : address);

function urlOf(address: string): (port: number) => string {
  return (port) => `http://${bracketed(address)}:${port}`;
}
