import { withoutHidden, writeOutHidden } from '@notebridge/protocol/util/hidden-characters';
import { quote } from '@notebridge/protocol/util/quote';

/** More of a text is not looked at. */
const maxLooked = 2000;

/** A text of a server or of code on one line, with nothing in it that a reader does not see. */
export function toPlainLine(text: string): string {
  return withoutHidden(text.slice(0, maxLooked));
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
  return writeOutHidden(quote(name));
}

/** A name without what separates its words, so that all spellings of it are one. */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}
