import type { BoundServer } from '../model.js';
import { type NamedServer, nameServers } from '../named-servers.js';
import { deviceNames, finishName, toAscii } from '../names.js';

/** Servers and tools with their names in Python, which are names of files too. */
export function nameForPython(servers: readonly BoundServer[]): NamedServer[] {
  return nameServers(servers, { toServerName: toPythonName, toToolName: toPythonName, areToolsFiles: true });
}

/** The reference's rule: `_` for what is no letter or digit, `_` before a digit at the front, `_` after a keyword. */
export function toPythonName(wire: string): string | undefined {
  const safe = toAscii(wire);
  return safe && finishName(safe, wire, isReserved);
}

/** As `toPythonName`, but letters of other alphabets stay where all Pythons take them. */
export function toParameterName(wire: string): string | undefined {
  const safe = wire.replaceAll(notInParameters, '_');
  if (!/[^_]/.test(safe)) return undefined;
  return finishName(safe.normalize('NFKC') === safe ? safe : safe.replaceAll(/[^A-Za-z0-9_]/gu, '_'), wire, isReserved);
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

/** Names that the generated packages need for themselves, beside those in two underscores. */
const ours = new Set(['TYPE_CHECKING', 'open_servers', 'open_tools']);

/** True for names that mean something to Python, such as all in two underscores, or to the package. */
function isReserved(name: string): boolean {
  return keywords.has(name) || ours.has(name) || deviceNames.test(name) || /^__.*__$/.test(name);
}
