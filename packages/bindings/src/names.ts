import { createHash } from 'node:crypto';

const maxLength = 80;
const hashLength = 6;

/**
 * Gives each name one of a language's, in the same order, unique and the same whatever other names there are, but for those that want the same: of these, a
 * name that needs no change keeps it (in lower case first), else none does, and the others end in a hash of the wire name. So a new tool
 * never takes over the name of another, except by having that very name.
 * `ignoreCase`: the names become files, and some file systems know only one case.
 */
export function assignNames(
  wires: readonly string[],
  { ignoreCase, kind, toName }: { ignoreCase: boolean; kind: string; toName: (wire: string) => string | undefined },
): string[] {
  const wishes = wires.map((wire) => ({ wire, wish: toName(wire) }));
  const groups = new Map<string, { wire: string; wish: string | undefined }[]>();
  const keyOf = (name: string) => (ignoreCase ? name.toLowerCase() : name);
  for (const each of wishes) {
    if (each.wish === undefined) continue;
    const key = keyOf(each.wish);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  const owners = new Map([...groups].map(([key, group]) => [key, ownerOf(group)]));
  const taken = new Set(groups.keys());
  return wishes.map(({ wire, wish }) => {
    if (wish !== undefined && owners.get(keyOf(wish)) === wire) return wish;
    return unique(`${wish ?? kind}_`, wire, taken, keyOf);
  });
}

/** A name that the language can have: `_` before a digit at the front, a hash of the wire name at the end of a long one, `_` after what is reserved. */
export function finishName(safe: string, wire: string, isReserved: (name: string) => boolean): string {
  const led = /^[0-9]/.test(safe) ? `_${safe}` : safe;
  const cut = led.length > maxLength ? `${led.slice(0, maxLength - hashLength - 1)}_${hashOf(wire)}` : led;
  return isReserved(cut) ? `${cut}_` : cut;
}

/** `_` for what is no letter or digit of ASCII. Undefined if nothing is left that says which it is. */
export function toAscii(wire: string): string | undefined {
  const safe = wire.replaceAll(/[^A-Za-z0-9_]/gu, '_');
  return /[A-Za-z0-9]/.test(safe) ? safe : undefined;
}

/** Windows keeps these names for devices, whatever the ending. */
export const deviceNames = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/i;

/** The one of several names that may keep the name that all of them want; undefined if none stands out. */
function ownerOf(group: readonly { wire: string; wish: string | undefined }[]): string | undefined {
  if (group.length === 1) return group[0]?.wire;
  const natural = group.filter(({ wire, wish }) => wire === wish);
  const lower = natural.filter(({ wire }) => wire === wire.toLowerCase());
  const best = natural.length === 1 ? natural : lower;
  return best.length === 1 ? best[0]?.wire : undefined;
}

function unique(prefix: string, wire: string, taken: Set<string>, keyOf: (name: string) => string): string {
  const stem = prefix.slice(0, maxLength - hashLength);
  for (let length = hashLength; ; length++) {
    const name = `${stem}${hashOf(wire, length)}`;
    if (taken.has(keyOf(name))) continue;
    taken.add(keyOf(name));
    return name;
  }
}

function hashOf(wire: string, length = hashLength): string {
  return createHash('sha256').update(wire).digest('hex').slice(0, length);
}
