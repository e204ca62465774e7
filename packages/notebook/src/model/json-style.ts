import type { JsonStyle } from './json-printer.js';
import type { Container } from './json-spans.js';

/** A style, and the line break of the line in which the object or list begins that it was found at. */
export interface FoundStyle {
  readonly style: JsonStyle;
  /** Empty where all stands in one line. */
  readonly lineBreak: string;
}

const decoder = new TextDecoder();
/** The last line break of a gap between tokens, with the indentation behind it. */
const lastBreak = /\r?\n[ \t]*$/;

/** How an object or list is written, as its gaps show; for what they do not show, `otherwise`. */
export function styleAt(bytes: Uint8Array, { open, close, children }: Container, otherwise: FoundStyle): FoundStyle {
  const [first, second] = children;
  const last = children.at(-1);
  if (!first || !last) return otherwise;
  const textOf = (start: number, end: number) => decoder.decode(bytes.subarray(start, end));
  const inner = textOf(open + 1, first.start).match(lastBreak)?.[0];
  const outer = textOf(last.end, close).match(lastBreak)?.[0] ?? '';
  const colon = first.key === undefined ? otherwise.style.colon : textOf(first.keyEnd, first.value);
  const gap = second && textOf(first.end, second.start);
  if (inner === undefined) {
    const comma = gap ?? (colon.endsWith(' ') ? ', ' : ',');
    return { style: { ...otherwise.style, indent: undefined, comma, colon }, lineBreak: '' };
  }
  const comma = gap === undefined ? ',' : gap.replace(lastBreak, '');
  return {
    style: { ...otherwise.style, indent: inner.startsWith(outer) ? inner.slice(outer.length) : '', comma, colon },
    lineBreak: outer,
  };
}

/**
 * How a text spells strings: programs differ in which characters they escape (all beyond ASCII, `<` as `\u003c`). A character is escaped
 * if the text has it in no other way.
 */
export function quoteAs(bytes: Uint8Array): (text: string) => string {
  const { codes, isUpperCase } = escapesIn(bytes);
  if (codes.size === 0) return JSON.stringify;
  const isAscii = [...codes].some((code) => code > 0x7f) && !bytes.some((byte) => byte > 0x7f);
  const escaped = [...codes].filter((code) => isPlain(code) && !bytes.includes(code)).map((code) => String.fromCharCode(code));
  const hex = (code: number) => code.toString(16).padStart(4, '0');
  const spell = (unit: string) => `\\u${isUpperCase ? hex(unit.charCodeAt(0)).toUpperCase() : hex(unit.charCodeAt(0))}`;
  return (text) => {
    let quoted = JSON.stringify(text);
    for (const character of escaped) quoted = quoted.replaceAll(character, spell(character));
    // Both halves of a pair are escaped, as all programs do.
    return isAscii ? quoted.replaceAll(/[\u0080-\uffff]/g, spell) : quoted.replaceAll(/[\u2028\u2029]/g, keepOr(codes, spell));
  };
}

function keepOr(codes: ReadonlySet<number>, spell: (unit: string) => string): (unit: string) => string {
  return (unit) => (codes.has(unit.charCodeAt(0)) ? spell(unit) : unit);
}

/** ASCII that is no part of the spelling itself: neither quote nor backslash, letter or digit. */
function isPlain(code: number): boolean {
  return code >= 0x20 && code <= 0x7f && !/["\\\w]/.test(String.fromCharCode(code));
}

/** The characters that are spelled `\uXXXX`. */
function escapesIn(bytes: Uint8Array): { codes: ReadonlySet<number>; isUpperCase: boolean } {
  const codes = new Set<number>();
  let isUpperCase = false;
  for (let at = bytes.indexOf(0x5c); at !== -1; at = bytes.indexOf(0x5c, at)) {
    const isCode = bytes[at + 1] === 0x75;
    if (isCode) {
      const digits = decoder.decode(bytes.subarray(at + 2, at + 6));
      codes.add(Number.parseInt(digits, 16));
      isUpperCase ||= /[A-F]/.test(digits);
    }
    at += isCode ? 6 : 2;
  }
  return { codes, isUpperCase };
}
