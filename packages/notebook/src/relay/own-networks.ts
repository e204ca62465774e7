import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { toBlockList } from '@notebridge/kit/address-class';

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
