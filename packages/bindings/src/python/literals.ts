import { ExactNumber, isJsonObject } from '@notebridge/protocol/json';

/** A Python string literal, in ASCII quotes, on one line. No content of the text can end the literal. */
export function pythonString(text: string): string {
  const escaped = text.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll(invisible, escapeOf);
  return `"${escaped}"`;
}

/** A JSON value as a Python expression; undefined for one that is longer than `maxLength`, or nested too deeply. */
export function pythonLiteral(value: unknown, maxLength = 200, depth = 0): string | undefined {
  const text = literalOf(value, maxLength, depth);
  return text !== undefined && text.length <= maxLength ? text : undefined;
}

/** Text for people, safe between `"""` if nothing is removed afterwards: invisible characters, and those that change the direction of text, are escaped. */
export function docText(text: string, maxLength = 20_000): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}… (${text.length - maxLength} more characters)` : text;
  return showInvisible(cut)
    .replaceAll('\\', '\\\\')
    .replaceAll(/"(?="|$)/g, '\\"');
}

/** The same for text that is no literal: an index, a manifest, a comment. */
export function showInvisible(text: string): string {
  return text.replaceAll(/\r\n?|[\u0085\u2028\u2029]/g, '\n').replaceAll(invisible, escapeOf);
}

/** True if Python could not encode it: half of a surrogate pair. */
export function isBroken(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

// Controls but newline and tab; marks and overrides of direction; separators of lines; half surrogates; characters without width.
const invisible =
  /[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

function escapeOf(character: string): string {
  if (character === '\n' || character === '\t') return character;
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}

function literalOf(value: unknown, maxLength: number, depth: number): string | undefined {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') return value.length <= maxLength ? pythonString(value) : undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  if (value instanceof ExactNumber) return Number.isFinite(value.valueOf()) ? value.source : undefined;
  if (depth > 8) return undefined;
  if (Array.isArray(value)) {
    if (value.length > maxLength) return undefined;
    const items = value.map((item) => pythonLiteral(item, maxLength, depth + 1));
    return items.includes(undefined) ? undefined : `[${items.join(', ')}]`;
  }
  if (!isJsonObject(value)) return undefined;
  const keys = Object.keys(value);
  if (keys.length > maxLength) return undefined;
  const members = keys.map((key) => {
    const member = pythonLiteral(value[key], maxLength, depth + 1);
    return member === undefined || key.length > maxLength ? undefined : `${pythonString(key)}: ${member}`;
  });
  return members.includes(undefined) ? undefined : `{${members.join(', ')}}`;
}
