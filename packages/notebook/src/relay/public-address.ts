import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Special-purpose addresses: the registries of IANA for IPv4 (RFC 6890) and IPv6, and what stands for a cloud's inside. */
const notPublic = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Azure's own, where each of its machines asks for settings and secrets.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** Of IPv6 only this part was given out. In it, what stands for other addresses (Teredo, 6to4), for tests, and for documents is left out. */
const publicOfIpv6 = '2000::/3';
const notPublicOfIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const refused4 = toList(notPublic, 'ipv4');
const allowed6 = toList([publicOfIpv6], 'ipv6');
const refused6 = toList(notPublicOfIpv6, 'ipv6');

/**
 * Whether an address is neither this machine's nor in one of the networks that it is directly in: those may have public addresses too, and a
 * firewall between them and the Internet.
 */
export function isElsewhere(address: string, interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces()): boolean {
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  const ranges = Object.values(interfaces).flatMap((each) => each?.map(({ cidr }) => cidr) ?? []);
  const ours = ranges.filter((cidr) => cidr !== null && isIP(cidr.split('/')[0] ?? '') === (family === 'ipv4' ? 4 : 6));
  return !toList(ours as string[], family).check(address, family);
}

/** Whether an address is one of the public Internet. False for everything that is no address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !refused4.check(address, 'ipv4');
  // With a zone (`%eth0`) it is one of a link.
  if (family !== 6 || address.includes('%')) return false;
  return allowed6.check(address, 'ipv6') && !refused6.check(address, 'ipv6');
}

function toList(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
