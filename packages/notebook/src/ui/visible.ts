import { el } from './dom.js';

/**
 * What cannot be seen, or turns the order of what stands beside it: control and format characters, bidi marks, tags, fillers, lone
 * surrogates, what no font knows. Not: tab and line break, and what joins the parts of one emoji.
 */
const unseen =
  '(?![\\t\\n\\r])[\\p{Cc}\\p{Co}\\p{Cs}\\p{Cn}\\p{Zl}\\p{Zp}\\u034F\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u2800\\u3164\\uFFA0\\uFE00-\\uFE0E\\u{E0100}-\\u{E01EF}]' +
  '|(?!\\u200D)\\p{Cf}|(?<![\\p{Emoji}\\p{Extended_Pictographic}])\\uFE0F|(?<![\\p{Extended_Pictographic}\\p{Emoji_Modifier}]\\uFE0F?)\\u200D';

/** Most texts are plain, which is detected quickly. */
const plain = /^[\t\n\r -~]*$/;

/** Finds them one by one. A new one each time: it remembers where it is. */
export function unseenCharacters(): RegExp {
  return new RegExp(unseen, 'gu');
}

/** The name by which such a character is shown: "U+202E". */
function nameOfCharacter(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** A text in which such characters are shown by their names. */
export function visible(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(unseenCharacters(), (char) => `[${nameOfCharacter(char.codePointAt(0) ?? 0)}]`);
}

/** More of them in one text are not marked one by one, in boxes that each cost a browser as much as a line. */
const maxMarks = 1000;

/** True if there are so many of them that an editor could not show each. */
export function isMostlyUnseen(text: string): boolean {
  if (plain.test(text)) return false;
  let count = 0;
  for (const _ of text.matchAll(unseenCharacters())) if (++count > maxMarks) return true;
  return false;
}

/** The same as nodes: each such character in a box of its own. */
export function visibleNodes(text: string): (Node | string)[] {
  if (plain.test(text)) return [text];
  const nodes: (Node | string)[] = [];
  let from = 0;
  for (const { 0: char, index } of text.matchAll(unseenCharacters())) {
    if (nodes.length >= 2 * maxMarks) return [...nodes, visible(text.slice(from))];
    nodes.push(text.slice(from, index), unseenMark(char.codePointAt(0) ?? 0));
    from = index + char.length;
  }
  return [...nodes, text.slice(from)];
}

/** The box that stands in place of one such character, in the editor too. */
export function unseenMark(code: number): HTMLElement {
  return el('span', { class: 'unseen', title: 'A character that cannot be seen' }, nameOfCharacter(code));
}
