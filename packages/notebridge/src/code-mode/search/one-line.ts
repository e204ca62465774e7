import { quote } from '../../util/quote.js';

// Controls, marks and overrides of direction, separators of lines, half surrogates, and characters without width.
const hidden =
  /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;
/** More of a text is not looked at. */
const maxLooked = 2000;

/** A text of a server or of code on one line, with nothing in it that a reader does not see. */
export function toPlainLine(text: string): string {
  return text.slice(0, maxLooked).replaceAll(hidden, ' ').replaceAll(/\s+/g, ' ').trim();
}

/** The first sentence of a text of a server, on one line. */
export function firstSentence(text: unknown, maxLength = 160): string {
  if (typeof text !== 'string') return '';
  const line = toPlainLine(text);
  const sentence = /^.*?[^.\s]{3}[.!?](?= |$)/u.exec(line)?.[0] ?? line;
  return sentence.length > maxLength ? `${sentence.slice(0, maxLength - 1).trimEnd()}…` : sentence;
}

/** A name as it is if it can be read as one word, else in quotes, with nothing in it that a reader does not see. */
export function shownName(name: string): string {
  if (/^[\p{L}\p{N}_.\-/:@]{1,120}$/u.test(name)) return name;
  return quote(name).replaceAll(hidden, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
