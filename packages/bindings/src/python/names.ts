import { createHash } from 'node:crypto';

/** A wire name and what stands for it in Python. */
export interface PythonName {
  wire: string;
  python: string;
}

const maxLength = 80;
const hashLength = 6;

/**
 * Gives each name one of Python's, unique and the same whatever other names there are, but for those that want the same: of these, a
 * name that needs no change keeps it (in lower case first), else none does, and the others end in a hash of the wire name. So a new tool
 * never takes over the name of another, except by having that very name.
 * `ignoreCase`: the names become files, and some file systems know only one case.
 */
export function assignNames(
  wires: readonly string[],
  { ignoreCase, kind, toName = toPythonName }: { ignoreCase: boolean; kind: string; toName?: (wire: string) => string | undefined },
): PythonName[] {
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
    if (wish === undefined) return { wire, python: unique(`${kind}_`, wire, taken, keyOf) };
    if (owners.get(keyOf(wish)) === wire) return { wire, python: wish };
    return { wire, python: unique(`${wish}_`, wire, taken, keyOf) };
  });
}

/** The reference's rule: `_` for what is no letter or digit, `_` before a digit at the front, `_` after a keyword. */
export function toPythonName(wire: string): string | undefined {
  const safe = wire.replaceAll(/[^A-Za-z0-9_]/gu, '_');
  // Nothing is left that says which it is.
  if (!/[A-Za-z0-9]/.test(safe)) return undefined;
  return finish(safe, wire);
}

/** As `toPythonName`, but letters of other alphabets stay where all Pythons take them. */
export function toParameterName(wire: string): string | undefined {
  const safe = wire.replaceAll(notInParameters, '_');
  if (!/[^_]/.test(safe)) return undefined;
  return finish(safe.normalize('NFKC') === safe ? safe : safe.replaceAll(/[^A-Za-z0-9_]/gu, '_'), wire);
}

/** True for a name that may stand in code as it is. */
export function isIdentifier(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !keywords.has(name);
}

// Letters only that Unicode has had for long, so that Python 3.9 knows them; and none that is written from right to left.
const notInParameters =
  /[^A-Za-z0-9_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0131\u0370-\u0373\u0386\u0388-\u038a\u038e-\u03a1\u03a3-\u03ce\u0400-\u0481\u048a-\u04ff\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3]/gu;

const keywords = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if import in is ' +
    'lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

/** What the generated packages need for themselves, beside names in two underscores. */
const ours = new Set(['TYPE_CHECKING', 'open_servers', 'open_tools']);

/** Windows keeps these names for devices, whatever the ending. */
const devices = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/i;

function finish(safe: string, wire: string): string {
  const led = /^[0-9]/.test(safe) ? `_${safe}` : safe;
  const cut = led.length > maxLength ? `${led.slice(0, maxLength - hashLength - 1)}_${hashOf(wire)}` : led;
  // What begins and ends in two underscores means something to Python.
  return keywords.has(cut) || ours.has(cut) || devices.test(cut) || /^__.*__$/.test(cut) ? `${cut}_` : cut;
}

/** Of several names that want the same in Python, the one that may keep it; undefined if none stands out. */
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
