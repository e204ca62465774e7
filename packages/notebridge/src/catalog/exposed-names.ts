import { createHash } from 'node:crypto';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';

/**
 * Some hosts refuse tool names over 64 characters, and put a prefix of their own before ours: `mcp__notebridge__` is the longest
 * that was seen (17).
 */
export const maxExposedNameLength = 64 - 'mcp__notebridge__'.length;

const hashLength = 6;

export interface NamingRules {
  /** Names that others have. */
  isTaken?: (name: string) => boolean;
  /** Whether a name may stand without the prefix of its server. Default: none may. */
  isPlain?: (address: ToolAddress) => boolean;
}

/**
 * Gives every tool one name for agents: `server__tool`, with `_` for what hosts refuse. The rule, in full:
 * a name that fits is kept as it is; one that is too long is cut and ends in a hash of server and tool; of several that would
 * be the same the one that had to be changed least (then the first by server and tool) keeps it, the others end in such a hash.
 * So the same set of tools has the same names, in whatever order its servers start. A plain name goes first, and is never changed.
 */
export function exposeNames(addresses: readonly ToolAddress[], rules: NamingRules = {}): Map<string, ToolAddress> {
  const { isTaken = () => false, isPlain = () => false } = rules;
  const isKept = (address: ToolAddress): boolean => isPlain(address) && !isTaken(address.tool);
  const plain = addresses.filter(isKept);
  const names = new Map(plain.map((address) => [address.tool, address]));
  const others = addresses.filter((address) => !isKept(address));
  for (const { address, name } of others.map((address) => ({ address, ...wishOf(address) })).sort(byLeastChange)) {
    const given = names.has(name) || isTaken(name) ? withHash(name, address) : name;
    // Two equal addresses, or a hash that collides: the first keeps it.
    if (!names.has(given)) names.set(given, address);
  }
  return names;
}

/** Finds the server of which a name may be that of a tool, whatever its tools are: of several the first. */
export function ownersByPrefix(servers: readonly string[]): (name: string) => string | undefined {
  const owners = new Map<string, { server: string; at: number }>();
  for (const [at, server] of servers.entries()) {
    // The prefix ends where the hash of a name that was cut may begin.
    const prefix = `${toSafe(server)}__`.slice(0, maxExposedNameLength - hashLength - 1);
    if (!owners.has(prefix)) owners.set(prefix, { server, at });
  }
  const lengths = [...new Set([...owners.keys()].map(({ length }) => length))];
  return (name) => {
    const found = lengths.flatMap((length) => owners.get(name.slice(0, length)) ?? []);
    return found.sort((one, other) => one.at - other.at)[0]?.server;
  };
}

interface Wish {
  address: ToolAddress;
  name: string;
  changed: boolean;
}

function wishOf(address: ToolAddress): Omit<Wish, 'address'> {
  const written = `${address.server}__${address.tool}`;
  const safe = toSafe(written);
  if (safe.length <= maxExposedNameLength) return { name: safe, changed: safe !== written };
  return { name: withHash(safe, address), changed: true };
}

function toSafe(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/gu, '_');
}

function withHash(name: string, { server, tool }: ToolAddress): string {
  const hash = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, hashLength);
  return `${name.slice(0, maxExposedNameLength - hashLength - 1)}_${hash}`;
}

function byLeastChange(a: Wish, b: Wish): number {
  return Number(a.changed) - Number(b.changed) || compare(a.address.server, b.address.server) || compare(a.address.tool, b.address.tool);
}

/** By code unit: the same everywhere, whatever the language of the machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
