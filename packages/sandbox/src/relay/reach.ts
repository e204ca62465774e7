import { lookup as lookUpName } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { classOfAddress, toBlockList } from '@notebridge/system/net/address-class';
import { parseAllowedServers } from './allowed-servers.js';

/** For tests, whose servers are on loopback: how names are looked up, which addresses may be connected to, and whom TLS trusts besides. */
export interface RelaySeam {
  lookup?: (host: string) => Promise<readonly string[]>;
  mayConnect?: (address: string) => boolean;
  /** Certificates, in PEM, of what the relay itself fetches. */
  ca?: string;
}

/** A connection to an address that was checked. Rejects with a `RelayRefusal`. `host` as a URL has it: in brackets for an IPv6 address. */
export type Reach = (host: string, port: number) => Promise<Socket>;

/** Why there is no connection, as a proxy answers it. The message may be shown to code. */
export class RelayRefusal extends Error {
  readonly status: number;

  constructor(status: 400 | 403 | 502 | 503, message: string) {
    super(message);
    this.status = status;
  }
}

const connectTimeoutMs = 20_000;
const lookupTimeoutMs = 10_000;

/** Throws for an entry of `--allow-net` that names no server. */
export function createReach(allow: readonly string[], { lookup = lookUpAll, mayConnect = isOutside }: RelaySeam = {}): Reach {
  const servers = parseAllowedServers(allow);
  return async (host, port) => {
    const bare = host.replace(/^\[(.*)\]$/, '$1');
    const literal = isIP(bare) ? [bare] : undefined;
    // No option would allow it.
    if (literal !== undefined && !mayConnect(bare)) throw inwards(host, bare);
    if (!servers.includes(host, port)) {
      const what = port === 443 || port === 80 ? host : `${host}:${port}`;
      throw new RelayRefusal(
        403,
        `"${what}" is not one of the servers that code may reach. Notebridge allows it with: --allow-net ${what}`,
      );
    }
    const addresses = literal ?? (await lookup(bare).catch(() => []));
    if (addresses.length === 0) throw new RelayRefusal(502, `There is no address of "${host}".`);
    const inward = addresses.find((address) => !mayConnect(address));
    if (inward !== undefined) throw inwards(host, inward);
    return dial(addresses, port, host);
  };
}

function isOutside(address: string): boolean {
  return classOfAddress(address) === 'public' && isElsewhere(address);
}

function inwards(host: string, address: string): RelayRefusal {
  return new RelayRefusal(
    403,
    `"${host}" is at ${address}, which is no address of the public Internet, or is in a network of this machine; code never reaches those.`,
  );
}

async function lookUpAll(host: string): Promise<string[]> {
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('late')), lookupTimeoutMs).unref());
  const found = await Promise.race([lookUpName(host, { all: true }), late]);
  return found.map(({ address }) => address);
}

/** The first of the addresses that answers. */
async function dial(addresses: readonly string[], port: number, host: string): Promise<Socket> {
  let reason = 'it took too long';
  for (const address of addresses.slice(0, 4))
    try {
      return await dialOne(address, port);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  throw new RelayRefusal(502, `"${host}" cannot be reached: ${reason}`);
}

function dialOne(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const timer = setTimeout(() => socket.destroy(new Error('it took too long')), connectTimeoutMs / 2);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', reject).on('error', () => {});
      resolve(socket);
    });
    socket.once('error', reject).once('error', () => clearTimeout(timer));
  });
}

/**
 * Whether an address is neither this machine's nor in one of the networks that it is directly in: those may have public addresses too, and a
 * firewall between them and the Internet.
 */
export function isElsewhere(address: string, interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces()): boolean {
  const family = isIP(address);
  const ranges = Object.values(interfaces).flatMap((each) => each?.flatMap(({ cidr }) => cidr ?? []) ?? []);
  const ours = ranges.filter((range) => isIP(range.split('/')[0] ?? '') === family);
  return !toBlockList(ours).check(address, family === 4 ? 'ipv4' : 'ipv6');
}
