import { BlockList, isIP } from 'node:net';

/**
 * Where an address is: on this machine; in a network that is somebody's own (its machine answers differently to everyone, or to nobody
 * outside); set aside for something else than one machine of the Internet; or public.
 */
export type AddressClass = 'loopback' | 'private' | 'special' | 'public';

/**
 * Special-purpose addresses, from IANA's registries for IPv4 and IPv6 (RFC 6890, RFC 8190) and the RFCs that stand beside them. The only
 * list of the packages: whatever is in it is reached by nothing that may reach the Internet alone.
 */
const ranges: Record<Exclude<AddressClass, 'public'>, readonly (readonly [range: string, source: string])[]> = {
  loopback: [
    ['127.0.0.0/8', 'RFC 1122'],
    ['::1/128', 'RFC 4291'],
  ],
  private: [
    ['10.0.0.0/8', 'RFC 1918'],
    ['172.16.0.0/12', 'RFC 1918'],
    ['192.168.0.0/16', 'RFC 1918'],
    ['100.64.0.0/10', 'RFC 6598'],
    ['169.254.0.0/16', 'RFC 3927'],
    ['198.18.0.0/15', 'RFC 2544'],
    // Azure's own, where each of its machines asks for settings and secrets.
    ['168.63.129.16/32', 'Azure'],
    ['64:ff9b:1::/48', 'RFC 8215'],
    ['fc00::/7', 'RFC 4193'],
    ['fe80::/10', 'RFC 4291'],
    ['fec0::/10', 'RFC 3879'],
  ],
  special: [
    ['0.0.0.0/8', 'RFC 791'],
    ['192.0.0.0/24', 'RFC 6890'],
    ['192.0.2.0/24', 'RFC 5737'],
    ['192.31.196.0/24', 'RFC 7535'],
    ['192.52.193.0/24', 'RFC 7450'],
    ['192.88.99.0/24', 'RFC 7526'],
    ['192.175.48.0/24', 'RFC 7534'],
    ['198.51.100.0/24', 'RFC 5737'],
    ['203.0.113.0/24', 'RFC 5737'],
    ['224.0.0.0/4', 'RFC 5771'],
    ['240.0.0.0/4', 'RFC 1112'],
    // Teredo, ORCHID and benchmarks are parts of it.
    ['2001::/23', 'RFC 2928'],
    ['2001:db8::/32', 'RFC 3849'],
    ['2002::/16', 'RFC 3056'],
    ['2620:4f:8000::/48', 'RFC 7534'],
    ['3fff::/20', 'RFC 9637'],
  ],
};
/** No other part of IPv6 was given out to machines of the Internet (RFC 4291, section 2.4). */
const publicOfIpv6 = '2000::/3';

const loopback = toBlockList(ranges.loopback.map(([range]) => range));
const own = toBlockList(ranges.private.map(([range]) => range));
const special = toBlockList(ranges.special.map(([range]) => range));
const given = toBlockList([publicOfIpv6]);

/** The class of an address as it stands: one that stands for another (`::ffff:8.8.8.8`) is special. Undefined for what is no address. */
export function classOfAddress(address: string): AddressClass | undefined {
  const family = isIP(address);
  if (family === 0) return undefined;
  // With a zone (`fe80::1%eth0`) it is one of a link.
  if (address.includes('%')) return 'private';
  const type = family === 6 ? 'ipv6' : 'ipv4';
  if (family === 6 && embeddedAddress(address) !== undefined) return 'special';
  if (loopback.check(address, type)) return 'loopback';
  if (own.check(address, type)) return 'private';
  return special.check(address, type) || (family === 6 && !given.check(address, type)) ? 'special' : 'public';
}

/** The address that another one stands for: IPv4 in IPv6 (RFC 4291), and as a network without IPv4 reaches it (RFC 6052); else itself. */
export function meantAddress(address: string): string {
  return embeddedAddress(address) ?? address;
}

function embeddedAddress(address: string): string | undefined {
  if (isIP(address) !== 6 || address.includes('%')) return undefined;
  const written = new URL(`http://[${address}]`).hostname;
  const [, high = '0', low = ''] = /^\[(?:::ffff|64:ff9b:):(?:([\da-f]+):)?([\da-f]+)\]$/.exec(written) ?? [];
  if (low === '') return undefined;
  const bytes = [high, low].map((group) => Number.parseInt(group, 16)).flatMap((group) => [group >> 8, group & 0xff]);
  return bytes.join('.');
}

/** Ranges as `10.0.0.0/8`. */
export function toBlockList(written: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of written) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), network.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}
