import { deviceNames, finishName, toAscii } from '../names.js';

/** The wire name as a name of a JavaScript module: `_` for what may not stand there, `_` before a digit at the front, `_` after a word that is taken. */
export function toJavaScriptName(wire: string): string | undefined {
  const safe = toAscii(wire);
  return safe && finishName(safe, wire, (name) => taken.has(name));
}

/** As `toJavaScriptName`, for what is a file too: not the list of all, and no name that Windows keeps for devices. */
export function toModuleName(wire: string): string | undefined {
  const name = toJavaScriptName(wire);
  return name !== undefined && (/^index$/i.test(name) || deviceNames.test(name)) ? `${name}_` : name;
}

/** Words of the language, names that no module may bind, and names of types that TypeScript keeps for itself. `import()` calls an export named `then`. */
const taken = new Set(
  (
    'arguments async await break case catch class const continue debugger default delete do else enum eval export extends false finally ' +
    'for function if implements import in instanceof interface let new null package private protected public return static super switch ' +
    'this throw true try typeof var void while with yield Infinity NaN exports globalThis module require undefined any bigint boolean ' +
    'declare global namespace never number object string symbol then type unknown'
  ).split(' '),
);
